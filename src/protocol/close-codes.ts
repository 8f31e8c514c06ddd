/** Every close the gateway sends or documents: one closed table, mirrored in docs/PROTOCOL.md. */
export const CLOSE_CODES = {
  done: { code: 1000, client: 'nothing to do' },
  draining: { code: 1001, client: 'reconnect after the hint' },
  binary: { code: 1003, client: 'send text frames' },
  bad_utf8: { code: 1007, client: 'send valid UTF-8' },
  too_big: { code: 1009, client: 'send smaller messages' },
  internal: { code: 1011, client: 'reconnect' },
  overloaded: { code: 1013, client: 'reconnect after the hint' },
  malformed: { code: 4400, client: 'fix the client, then reconnect' },
  unauthenticated: { code: 4401, client: 'reconnect with a fresh token' },
  forbidden: { code: 4403, client: 'do not reconnect' },
  nothing_opened: { code: 4408, client: 'reconnect and send a request' },
  replaced: { code: 4409, client: 'nothing: the session goes on elsewhere' },
  too_many: { code: 4429, client: 'reconnect after the hint' },
  slow_reader: { code: 4430, client: 'reconnect and read faster' },
} as const;

export type CloseName = keyof typeof CLOSE_CODES;

/** The close reason: the fixed word, with `retry=<ms>` where a hint applies. Always under the 123 bytes RFC 6455 leaves. */
export function closeReason(name: CloseName, retryMs?: number): string {
  return retryMs === undefined ? name : `${name} retry=${Math.ceil(retryMs)}`;
}
