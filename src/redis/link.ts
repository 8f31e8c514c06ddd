import type { Cancel, Clock } from '../ports/clock.ts';
import { isAnswer, type Reply, type Wire } from './wire.ts';

export const COMMAND_MS = 1000;
/** A link that owes an answer for so much longer is dead. */
const GRACE_MS = 2000;
/** A link on which nothing is under way is asked so often whether it lives: it may be half-open. */
const IDLE_MS = 2000;
const MAX_IN_FLIGHT = 1000;

/** One wire while it is good, with a deadline for every command. */
export class Link {
  readonly #wire: Wire;
  readonly #clock: Clock;
  readonly #probe: string;
  #inFlight = 0;
  /** Why it ended: what was under way fails for that too. */
  #ending: unknown;
  #cancelProbe: Cancel = () => {};
  #lost: ((reason: unknown) => void) | undefined;

  /** `probe`: a key of the gateway's own to ask about. `lost` is called once, unless the link is destroyed first. */
  constructor(wire: Wire, probe: string, clock: Clock, lost: (reason: unknown) => void) {
    this.#wire = wire;
    this.#clock = clock;
    this.#probe = probe;
    this.#lost = lost;
    wire.onLost((reason) => this.#end(reason));
    this.#probeLater();
  }

  /** Whether the server answers. */
  async probe(): Promise<void> {
    await this.send(this.#probe, ['TYPE', this.#probe], COMMAND_MS);
  }

  async send(key: string, args: readonly string[], patience: number): Promise<Reply> {
    if (this.#inFlight >= MAX_IN_FLIGHT) throw new Error('Too many commands wait for Redis');
    this.#inFlight += 1;
    let cancelLate: Cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      cancelLate = this.#clock.after(patience, () => reject(new Error(`Redis did not answer within ${patience} ms`)));
    });
    const answered = this.#answered(this.#wire.send(key, args), patience + GRACE_MS);
    return Promise.race([answered, late]).finally(cancelLate);
  }

  destroy(): void {
    this.#lost = undefined;
    this.#cancelProbe();
    this.#wire.destroy();
  }

  async #answered(sent: Promise<Reply>, limit: number): Promise<Reply> {
    const cancelDead = this.#clock.after(limit, () => this.#end(new Error('Redis does not answer')));
    try {
      return await sent;
    } catch (error) {
      if (!keepsLink(error)) this.#end(error);
      throw this.#ending ?? error;
    } finally {
      this.#inFlight -= 1;
      cancelDead();
    }
  }

  #end(reason: unknown): void {
    const lost = this.#lost;
    this.#ending ??= reason;
    this.destroy();
    lost?.(reason);
  }

  #probeLater(): void {
    this.#cancelProbe = this.#clock.after(IDLE_MS, () => {
      if (this.#inFlight === 0) this.probe().catch(() => {});
      this.#probeLater();
    });
  }
}

/**
 * A server that refuses writes is no master any more, and one that fails otherwise than by an answer is not there. Before
 * Redis 7 an error that a script met stands in the middle of the script's own.
 */
function keepsLink(error: unknown): boolean {
  return isAnswer(error) && error instanceof Error && !/\bREADONLY\b/.test(error.message);
}
