import type { Clock } from '../ports/clock.ts';

const QUIET_MS = 60_000;

/** Says at most once a minute what may happen all the time, with how often it has since it was said last. */
export class Seldom {
  readonly #clock: Clock;
  readonly #say: (count: number) => void;
  #count = 0;
  #quietUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, say: (count: number) => void) {
    this.#clock = clock;
    this.#say = say;
  }

  happened(): void {
    this.#count += 1;
    if (this.#clock.elapsed() < this.#quietUntil) return;
    this.#say(this.#count);
    this.#count = 0;
    this.#quietUntil = this.#clock.elapsed() + QUIET_MS;
  }
}
