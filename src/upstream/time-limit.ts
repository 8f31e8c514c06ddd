import type { Clock } from '../ports/clock.ts';

export interface TimeLimit {
  /** Aborts when the time is over or the outer signal does; its reason says which. */
  readonly signal: AbortSignal;
  /** The work is done; idempotent. */
  end(): void;
}

/** Starts a limit of `ms` for opening something; `stopped` is called once if it is reached, or the outer signal aborts. */
export function timeLimit(clock: Clock, ms: number, outer: AbortSignal | undefined, stopped: () => void): TimeLimit {
  const abort = new AbortController();
  const stop = (cause: unknown) => {
    abort.abort(cause);
    stopped();
  };
  const cancel = clock.after(ms, () => stop(new Error(`no answer to initialize within ${ms} ms`)));
  const unwanted = () => stop(outer?.reason);
  outer?.addEventListener('abort', unwanted, { once: true });
  if (outer?.aborted === true) unwanted();
  return {
    signal: abort.signal,
    end() {
      cancel();
      outer?.removeEventListener('abort', unwanted);
    },
  };
}
