import type { LocalBus } from '../ports/bus.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Counter, Meter } from '../ports/meter.ts';
import type { Entries } from './entry.ts';
import type { Loss } from './position.ts';
import { Seldom } from './seldom.ts';
import { Senders } from './senders.ts';
import type { Raw } from './stream.ts';

export interface InboxOptions {
  readonly local: LocalBus;
  readonly entries: Entries;
  /** Of this process, whose entries it has heard already. */
  readonly identity: string;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly log: Log;
}

/** Brings what other replicas wrote to the listeners of this one, and tells them of what is missing. */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #senders = new Senders();
  readonly #received: Counter;
  readonly #refused: Counter;
  readonly #gaps: Counter;
  readonly #refusals: Seldom;
  #why: Loss = 'missing';
  readonly #gapLines: Seldom;

  constructor(options: InboxOptions) {
    this.#options = options;
    this.#received = options.meter.counter('bus_entries_total', { stage: 'received' });
    this.#refused = options.meter.counter('bus_entries_total', { stage: 'refused' });
    this.#gaps = options.meter.counter('bus_gaps_total', {});
    const { clock, log } = options;
    this.#refusals = new Seldom(clock, (count) => log.warn('bus_entry_refused', { count }));
    this.#gapLines = new Seldom(clock, (count) => log.warn('bus_gap', { reason: this.#why, count }));
  }

  read({ fields }: Raw): void {
    const { entries, identity, local } = this.#options;
    const entry = entries.read(fields);
    if (entry === undefined) return this.#refuse();
    if (entry.from === identity) return;
    const order = this.#senders.heard(entry.from, entry.number);
    if (order === 'again') return;
    this.#received.add();
    if (order === 'missing') this.#gap('missing');
    if (entry.hint.kind === 'everything') local.missed();
    else local.receive(entry.hint);
  }

  /** The reader goes on behind what was lost. */
  lost(loss: Loss): void {
    this.#senders.passOver();
    this.#gap(loss);
  }

  #gap(why: Loss): void {
    this.#gaps.add();
    this.#why = why;
    this.#gapLines.happened();
    this.#options.local.missed();
  }

  #refuse(): void {
    this.#refused.add();
    this.#refusals.happened();
  }
}
