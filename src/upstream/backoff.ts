/**
 * Milliseconds to wait before attempt number `failures + 1` after `failures` failed ones in a row: at most half a second
 * the first time, doubling up to 30 s, each jittered down by up to half so that many gateways do not knock together.
 */
export function backoff(failures: number, random: number): number {
  const ceiling = Math.min(500 * 2 ** Math.max(0, failures - 1), 30_000);
  return ceiling * (0.5 + random / 2);
}
