const FIRST_MS = 500;
const LAST_MS = 20_000;
const LONGEST_WISH_MS = 30_000;

/**
 * How long to wait before reconnect number `attempt` (from 0): half a second, doubling up to 20 s, and up to half as much
 * again by `random` (0 to 1). `retryMs`, the server's own wish within 30 s, stands in for the half second and is never
 * undercut (MCP 2025-11-25, transports: a client must respect `retry`).
 */
export function reconnectDelay(attempt: number, retryMs: number | undefined, random: number): number {
  const first = Math.min(Math.max(retryMs ?? FIRST_MS, 10), LONGEST_WISH_MS);
  const full = Math.max(first, Math.min(first * 2 ** Math.min(attempt, 20), LAST_MS));
  return full * (1 + random / 2);
}
