import type { ChannelFailure, Receiver } from '../ports/transport.ts';

/**
 * What a channel tells its owner, in order, and held while the owner has paused: one chunk of a stream can carry many
 * messages. Held is at most what was read before the pause, one chunk a stream.
 */
export class HttpDelivery {
  readonly #receiver: Receiver;
  #held: Array<() => void> = [];
  #paused = false;
  #silent = false;

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  message(text: string): void {
    if (this.#free()) this.#receiver.message(text);
    else this.#hold(() => this.#receiver.message(text));
  }

  failed(id: number, failure: ChannelFailure): void {
    if (this.#free()) this.#receiver.failed(id, failure);
    else this.#hold(() => this.#receiver.failed(id, failure));
  }

  /** Nothing follows. What is held is told before, paused or not. Once. */
  closed(cause?: Error): void {
    const held = this.#held;
    this.#held = [];
    this.#silent = true;
    for (const tell of held) tell();
    if (cause === undefined) this.#receiver.closed();
    else this.#receiver.closed(cause);
  }

  /** Nothing but `closed` is told from now on; what is held is dropped. */
  silence(): void {
    this.#held = [];
    this.#silent = true;
  }

  get paused(): boolean {
    return this.#paused;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    while (!this.#paused) {
      const tell = this.#held.shift();
      if (tell === undefined) return;
      tell();
    }
  }

  #free(): boolean {
    return !this.#paused && !this.#silent && this.#held.length === 0;
  }

  #hold(tell: () => void): void {
    if (!this.#silent) this.#held.push(tell);
  }
}
