import type { Clock } from '../ports/clock.ts';
import { drain } from './http-body.ts';
import type { HttpHeaders } from './http-headers.ts';
import { judgePost, type Lost, statusError } from './http-status.ts';
import type { Wire } from './http-wire.ts';

export interface NoticeParts {
  readonly wire: Wire;
  readonly headers: HttpHeaders;
  readonly clock: Clock;
  readonly acknowledgeMs: number;
}

/** `refused` is any other status, a broken connection, or no status in time. */
export type NoticeEnd = { readonly end: 'taken' } | { readonly end: 'refused' | Lost; readonly cause: Error };

/** POSTs under way at once; a server that takes none does not get a socket for each. */
const MAX_UNDER_WAY = 256;

/** Messages without an answer: notifications and responses. */
export class HttpNotices {
  readonly #parts: NoticeParts;
  #underWay = 0;
  #onIdle: () => void = () => {};

  constructor(parts: NoticeParts) {
    this.#parts = parts;
  }

  /** False when too many are under way: the message is dropped. `done` is called once, when the server has taken it or not. */
  post(message: string, done: (end: NoticeEnd) => void): boolean {
    if (this.#underWay >= MAX_UNDER_WAY) return false;
    this.#underWay += 1;
    postNotice(this.#parts, message, (end) => {
      this.#underWay -= 1;
      done(end);
      if (this.#underWay === 0) this.#onIdle();
    });
    return true;
  }

  /** Calls `task` when none is under way, at once if so. One task at most. */
  whenIdle(task: () => void): void {
    const once = firstOnly(task);
    this.#onIdle = once;
    if (this.#underWay === 0) once();
  }
}

/** The limit runs on to the end of the body, so that none holds its socket for ever. */
function postNotice(parts: NoticeParts, message: string, done: (end: NoticeEnd) => void): void {
  const { wire, headers, clock, acknowledgeMs } = parts;
  const sessioned = headers.session !== undefined;
  const once = firstOnly(done);
  const outgoing = { method: 'POST', headers: headers.post(), body: message } as const;
  const abort = wire.request(outgoing, {
    response: (answer) => {
      drain(answer);
      answer.once('close', cancel);
      once(judged(answer.statusCode ?? 0, sessioned));
    },
    failed: ({ cause, unreachable }) => {
      cancel();
      once({ end: unreachable ? 'server' : 'refused', cause });
    },
  });
  const cancel = clock.after(acknowledgeMs, () => {
    abort();
    once({ end: 'refused', cause: new Error(`no status within ${acknowledgeMs} ms`) });
  });
}

function judged(status: number, sessioned: boolean): NoticeEnd {
  const verdict = judgePost(status, sessioned);
  if (verdict === 'taken') return { end: 'taken' };
  return { end: verdict === 'lost' ? 'session' : 'refused', cause: statusError(status) };
}

function firstOnly<A extends unknown[]>(hear: (...heard: A) => void): (...heard: A) => void {
  let called = false;
  return (...heard) => {
    if (called) return;
    called = true;
    hear(...heard);
  };
}
