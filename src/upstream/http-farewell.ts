import type { Clock } from '../ports/clock.ts';
import { drain } from './http-body.ts';
import type { HttpHeaders } from './http-headers.ts';
import type { HttpNotices } from './http-notice.ts';
import type { Wire } from './http-wire.ts';

export interface FarewellParts {
  readonly wire: Wire;
  readonly headers: HttpHeaders;
  readonly clock: Clock;
  readonly notices: HttpNotices;
  readonly farewellMs: number;
}

/**
 * Lets what was sent without an answer (cancellations above all) get through, then gives the session back with DELETE
 * when one is held (MCP 2025-11-25, session management). Resolves when done, or after `farewellMs` as it is.
 */
export function sayFarewell(parts: FarewellParts, holdsSession: boolean): Promise<void> {
  return new Promise((resolve) => {
    const cancel = parts.clock.after(parts.farewellMs, resolve);
    const done = (): void => {
      cancel();
      resolve();
    };
    parts.notices.whenIdle(() => {
      if (holdsSession) deleteSession(parts, done);
      else done();
    });
  });
}

function deleteSession({ wire, headers }: FarewellParts, done: () => void): void {
  const outgoing = { method: 'DELETE', headers: headers.delete() } as const;
  wire.request(outgoing, {
    response: (answer) => {
      drain(answer);
      done();
    },
    failed: done,
  });
}
