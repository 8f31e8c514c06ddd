import type { Redis, Reply } from '../../src/redis/connection.ts';

export interface FakeRedis extends Redis {
  /** What was sent, in order. */
  readonly sent: (readonly string[])[];
  /** What the next commands give; an Error rejects. Without it they give 1. */
  answer(args: readonly string[]): Promise<Reply>;
  turn(isUp: boolean): void;
}

/** A connection without a server: up until it is turned off. */
export function fakeRedis(answer: (args: readonly string[]) => Promise<Reply> = async () => 1): FakeRedis {
  const listeners = new Set<(isUp: boolean) => void>();
  const state = { isUp: true };
  const sent: (readonly string[])[] = [];
  const fake: FakeRedis = {
    sent,
    answer,
    get isUp() {
      return state.isUp;
    },
    reason: '',
    async send(_key, args) {
      if (!state.isUp) throw new Error('Redis cannot be reached');
      sent.push(args);
      return fake.answer(args);
    },
    onState(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {},
    turn(isUp) {
      state.isUp = isUp;
      for (const listener of listeners) listener(isUp);
    },
  };
  return fake;
}
