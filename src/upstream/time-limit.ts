import type { Clock } from '../ports/clock.ts';

export interface TimeLimit {
  /** Aborts when the time is over or the outer signal does; its reason says which. */
  readonly signal: AbortSignal;
  /** Time no longer counts, the outer signal still does; idempotent. */
  lift(): void;
  /** The work is done; idempotent. */
  end(): void;
}

/** Not done within the time there was for it. */
export class TimeOver extends Error {
  override readonly name = 'TimeOver';
}

/** Starts a limit of `ms` for opening something; `stopped` is called once if it is reached, which `over` tells, or the outer signal aborts. */
export function timeLimit(
  clock: Clock,
  ms: number,
  over: string,
  outer: AbortSignal | undefined,
  stopped: () => void,
): TimeLimit {
  const abort = new AbortController();
  const stop = (cause: unknown) => {
    abort.abort(cause);
    stopped();
  };
  const lift = clock.after(ms, () => stop(new TimeOver(over)));
  const unwanted = () => stop(outer?.reason);
  outer?.addEventListener('abort', unwanted, { once: true });
  if (outer?.aborted === true) unwanted();
  return {
    signal: abort.signal,
    lift,
    end() {
      lift();
      outer?.removeEventListener('abort', unwanted);
    },
  };
}
