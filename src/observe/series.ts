import type { Counter, Gauge, Histogram } from '../ports/meter.ts';

export type Labels = Readonly<Record<string, string>>;

/** A plain number until a scrape asks for it. What would spoil the sum (negative, not finite) is not added. */
export class CounterCell implements Counter {
  value = 0;

  add(by = 1): void {
    if (by > 0 && by < Number.POSITIVE_INFINITY) this.value += by;
  }
}

/** A plain number until a scrape asks for it. What is not finite is ignored. */
export class GaugeCell implements Gauge {
  value = 0;

  add(by: number): void {
    if (Number.isFinite(by)) this.value += by;
  }

  set(value: number): void {
    if (Number.isFinite(value)) this.value = value;
  }
}

/** Counts per bucket; the last place counts what is over every bound. A negative duration is a clock's slip and counts as 0. */
export class HistogramCell implements Histogram {
  readonly counts: number[];
  sum = 0;
  readonly #bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(seconds: number): void {
    if (!Number.isFinite(seconds)) return;
    const value = Math.max(seconds, 0);
    let place = 0;
    for (const bound of this.#bounds) {
      if (value <= bound) break;
      place += 1;
    }
    this.counts[place] = (this.counts[place] ?? 0) + 1;
    this.sum += value;
  }
}

export interface Series<Cell> {
  readonly labels: Labels;
  readonly cell: Cell;
}

/** The value of every label of the one series that takes what is over the bound. */
const OVERFLOW = 'other';

/**
 * The series of one instrument: one cell per set of label values, the same each time it is asked for. Never more than
 * `max` and one: what is over goes together into a series whose labels all read `other`.
 */
export class Family<Cell> {
  readonly #names: readonly string[];
  readonly #make: () => Cell;
  readonly #max: number;
  readonly #series = new Map<string, Series<Cell>>();

  constructor(names: readonly string[], make: () => Cell, max: number) {
    this.#names = names;
    this.#make = make;
    this.#max = max;
    // Without labels there is one series, and it is there from the first scrape.
    if (names.length === 0) this.of({});
  }

  of(labels: Labels): Cell {
    const values = this.#names.map((name) => labels[name] ?? '');
    const known = this.#series.get(keyOf(values));
    if (known !== undefined) return known.cell;
    return this.#series.size < this.#max ? this.#add(values) : this.#overflow();
  }

  all(): Iterable<Series<Cell>> {
    return this.#series.values();
  }

  #overflow(): Cell {
    const values = this.#names.map(() => OVERFLOW);
    return this.#series.get(keyOf(values))?.cell ?? this.#add(values);
  }

  #add(values: readonly string[]): Cell {
    const cell = this.#make();
    const labels = Object.fromEntries(this.#names.map((name, at) => [name, values[at] ?? '']));
    this.#series.set(keyOf(values), { labels, cell });
    return cell;
  }
}

/** Lengths keep apart what plain joining would confuse. */
function keyOf(values: readonly string[]): string {
  let key = '';
  for (const value of values) key += `${value.length}:${value}`;
  return key;
}
