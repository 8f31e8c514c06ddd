import type { RedisAddress } from '../config/redis-address.ts';
import type { Cancel, Clock } from '../ports/clock.ts';
import { dialCluster } from './cluster.ts';
import { COMMAND_MS, Link } from './link.ts';
import { dialMaster } from './sentinel.ts';
import { dialServer } from './single.ts';
import type { Reply, Wire } from './wire.ts';

export { COMMAND_MS } from './link.ts';
export { isLongReply } from './reply-limit.ts';
export { isAnswer, type Reply } from './wire.ts';

/** One connection to a standalone server, a Sentinel's master or a cluster, made anew for ever until it is closed. */
export interface Redis {
  readonly isUp: boolean;
  /** Why it was lost last, or could not be made. */
  readonly reason: string;
  /**
   * One command about `key`. Rejects at once while the server cannot be reached, otherwise within `patience` milliseconds
   * (COMMAND_MS), with what `isAnswer` knows where the server says no. Commands are written in the order of the calls.
   */
  send(key: string, args: readonly string[], patience?: number): Promise<Reply>;
  /** Calls at every change of state, once it is in force. Returns the way to stop. */
  onState(listener: (isUp: boolean) => void): () => void;
  /** At once, whatever is under way; what waits for an answer rejects. Idempotent. */
  close(): Promise<void>;
}

export interface RedisOptions {
  readonly address: RedisAddress;
  /** A key of the gateway's own, asked about to see whether the server answers. */
  readonly probe: string;
  readonly clock: Clock;
  /** PEM of the authorities to trust; absent: those of the runtime. */
  readonly ca?: string | undefined;
}

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5000;
const MAX_REASON = 300;
/** A link that lasted so long was a good one: the waits begin anew. */
const LASTING_MS = 5000;

/** Begins to connect at once. */
export function openRedis(options: RedisOptions): Redis {
  return new Connection(options);
}

class Connection implements Redis {
  readonly #options: RedisOptions;
  readonly #listeners = new Set<(isUp: boolean) => void>();
  #link: Link | undefined;
  #failures = 0;
  #upSince = 0;
  #reason = 'Redis does not answer';
  #closed = false;
  #cancelDial: Cancel = () => {};

  constructor(options: RedisOptions) {
    this.#options = options;
    void this.#dial();
  }

  get isUp(): boolean {
    return this.#link !== undefined;
  }

  get reason(): string {
    return this.#reason;
  }

  async send(key: string, args: readonly string[], patience = COMMAND_MS): Promise<Reply> {
    if (this.#link === undefined) throw new Error('Redis cannot be reached');
    return this.#link.send(key, args, patience);
  }

  onState(listener: (isUp: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#listeners.clear();
    this.#cancelDial();
    this.#link?.destroy();
    this.#link = undefined;
  }

  async #dial(): Promise<void> {
    const link = await this.#dialed();
    if (this.#closed) link?.destroy();
    else if (link !== undefined) this.#up(link);
  }

  async #dialed(): Promise<Link | undefined> {
    const { probe, clock } = this.#options;
    try {
      const wire = await dial(this.#options);
      const link: Link = new Link(wire, probe, clock, (reason) => this.#lost(link, reason));
      await link.probe().catch((error: unknown) => {
        link.destroy();
        throw error;
      });
      return link;
    } catch (error) {
      this.#dialLater(error);
      return undefined;
    }
  }

  #up(link: Link): void {
    this.#link = link;
    this.#upSince = this.#options.clock.elapsed();
    this.#tell(true);
  }

  #lost(link: Link, reason: unknown): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    if (this.#options.clock.elapsed() - this.#upSince >= LASTING_MS) this.#failures = 0;
    this.#dialLater(reason);
    this.#tell(false);
  }

  #dialLater(error: unknown): void {
    if (this.#closed) return;
    this.#reason = reasonOf(error);
    const longest = Math.min(FIRST_WAIT_MS * 2 ** this.#failures, LONGEST_WAIT_MS);
    this.#failures = Math.min(this.#failures + 1, 10);
    this.#cancelDial = this.#options.clock.after(longest * (0.5 + Math.random() / 2), () => void this.#dial());
  }

  #tell(isUp: boolean): void {
    for (const listener of [...this.#listeners]) {
      if (this.#listeners.has(listener)) listener(isUp);
    }
  }
}

function dial({ address, ca }: RedisOptions): Promise<Wire> {
  switch (address.kind) {
    case 'single':
      return dialServer({ ...address, ca });
    case 'sentinel':
      return dialMaster(address, ca);
    case 'cluster':
      return dialCluster(address, ca);
  }
}

/** Of an error that is many, such as a name with many addresses none of which answers, the code is all there is. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const text = error.message || ('code' in error ? String(error.code) : error.name);
  return text.slice(0, MAX_REASON);
}
