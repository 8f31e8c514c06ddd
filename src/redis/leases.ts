import type { Cancel, Clock } from '../ports/clock.ts';
import type { Leases } from '../ports/leases.ts';
import type { Redis } from './connection.ts';
import { CLAIM, TELL } from './lease-scripts.ts';

export interface RedisLeasesParts {
  readonly redis: Redis;
  /** A key of the gateway's in Redis by its last part. */
  readonly keys: (rest: string) => string;
  /** What stands for an owner in a key: it tells nothing of whom. */
  readonly nameOf: (owner: string) => string;
  readonly clock: Clock;
  readonly random: () => number;
  /** Names this process: no other has the same, nor has it again after a restart. */
  readonly replica: string;
  /** Connections of one owner over all replicas. */
  readonly limit: number;
  /** Milliseconds for which a count holds that nobody renews. */
  readonly life?: number;
}

const LIFE_MS = 30_000;
/** In a life counts are told anew so often: two may be missed. */
const RENEWALS = 3;
/** Owners in one command, so that none keeps Redis busy. */
const BATCH = 200;
/** Owners that are remembered because Redis may hold a count they do not have; that of any other ends by itself. */
const MAX_UNSURE = 1000;

/**
 * One hash an owner, in it a count for each replica, with the time of Redis at which it ends. What is told is always how
 * many there are now, so whatever was lost is right again with the next renewal: at the latest when Redis is back.
 */
export class RedisLeases implements Leases {
  readonly #parts: RedisLeasesParts;
  readonly #life: number;
  /** What there is here: of no more owners than there are connections. */
  readonly #held = new Map<string, number>();
  /** Owners of whom something was sent and not answered: it may be written yet, when they have nothing any more. */
  readonly #unsure = new Set<string>();
  /** Owners whose count is to be told. */
  readonly #untold = new Set<string>();
  readonly #stopState: () => void;
  #stopTimer: Cancel = () => {};
  #isTelling = false;
  #telling: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(parts: RedisLeasesParts) {
    this.#parts = parts;
    this.#life = parts.life ?? LIFE_MS;
    this.#stopState = parts.redis.onState((isUp) => (isUp ? this.#renew() : this.#untold.clear()));
    this.#renewLater();
  }

  async claim(owner: string, count: number): Promise<boolean> {
    this.#held.set(owner, count);
    if (!this.#canTell) return true;
    const { redis, replica, limit } = this.#parts;
    const args = [replica, String(count), String(limit), String(this.#life)];
    try {
      const answer = await CLAIM(redis, [this.#keyOf(owner)], args);
      // A script that the server did not know is sent twice: what was settled since may have come before it.
      if (this.#countOf(owner) < count) this.#tell(owner);
      return answer !== 0;
    } catch {
      this.#doubt([owner]);
      return true;
    }
  }

  settle(owner: string, count: number): void {
    if (count === 0) this.#held.delete(owner);
    else this.#held.set(owner, count);
    this.#tell(owner);
  }

  close(): Promise<void> {
    this.#closing ??= this.#release();
    return this.#closing;
  }

  get #canTell(): boolean {
    return this.#closing === undefined && this.#parts.redis.isUp;
  }

  #keyOf(owner: string): string {
    return this.#parts.keys(`connections:${this.#parts.nameOf(owner)}`);
  }

  #countOf(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }

  /** After a time chosen by chance, so that replicas do not renew many owners all at once. */
  #renewLater(): void {
    const wait = (this.#life / RENEWALS) * (0.9 + 0.2 * this.#parts.random());
    this.#stopTimer = this.#parts.clock.after(wait, () => {
      this.#renew();
      this.#renewLater();
    });
  }

  #renew(): void {
    const owners = [...this.#held.keys(), ...this.#unsure];
    if (this.#canTell) this.#unsure.clear();
    this.#tell(...owners);
  }

  #doubt(owners: readonly string[]): void {
    for (const owner of owners) {
      if (this.#unsure.size < MAX_UNSURE) this.#unsure.add(owner);
    }
  }

  #tell(...owners: readonly string[]): void {
    if (!this.#canTell) return;
    for (const owner of owners) this.#untold.add(owner);
    if (!this.#isTelling) this.#telling = this.#tellAll();
  }

  /** One command after the other; what comes meanwhile goes with the next. */
  async #tellAll(): Promise<void> {
    this.#isTelling = true;
    try {
      while (this.#untold.size > 0) await this.#send(this.#nextBatch());
    } catch {
      // What is still there is told with the next renewal, and what is not ends by itself.
      this.#untold.clear();
    } finally {
      this.#isTelling = false;
    }
  }

  #nextBatch(): readonly string[] {
    const batch: string[] = [];
    for (const owner of this.#untold) {
      if (batch.length === BATCH) break;
      batch.push(owner);
      this.#untold.delete(owner);
    }
    return batch;
  }

  async #send(owners: readonly string[]): Promise<void> {
    const [first, ...others] = owners.map((owner) => this.#keyOf(owner));
    if (first === undefined) return;
    const counts = owners.map((owner) => String(this.#countOf(owner)));
    const args = [this.#parts.replica, String(this.#life), ...counts];
    await TELL(this.#parts.redis, [first, ...others], args).catch((error: unknown) => {
      this.#doubt(owners);
      throw error;
    });
  }

  async #release(): Promise<void> {
    this.#stopTimer();
    this.#stopState();
    for (const owner of [...this.#held.keys(), ...this.#unsure]) this.#untold.add(owner);
    this.#held.clear();
    const sent: Promise<void>[] = [this.#telling];
    // All at once: together they take no longer than one may.
    while (this.#parts.redis.isUp && this.#untold.size > 0) sent.push(this.#send(this.#nextBatch()));
    await Promise.allSettled(sent);
  }
}
