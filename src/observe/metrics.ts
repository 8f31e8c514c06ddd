import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Meter } from '../ports/meter.ts';
import { type HistogramFamily, histogramText } from './histogram-text.ts';
import { INSTRUMENTS, PREFIX } from './instruments.ts';
import { CounterCell, Family, GaugeCell, HistogramCell } from './series.ts';

/** Label sets one instrument keeps apart; further ones share the series `other`. */
const MAX_SERIES = 10_000;

export interface MetricsOptions {
  readonly version: string;
  readonly configHash: string;
  /** For tests; the default is 10,000. */
  readonly maxSeries?: number;
}

export interface Metrics {
  readonly meter: Meter;
  /** One scrape, Prometheus text format 0.0.4. */
  expose(): Promise<{ contentType: string; text: string }>;
  /** Empties the registry; handles that are still held go on counting to nobody. */
  close(): void;
}

interface Families {
  readonly counters: Map<string, Family<CounterCell>>;
  readonly gauges: Map<string, Family<GaugeCell>>;
  readonly histograms: Map<string, HistogramFamily>;
}

/**
 * The instruments in a registry of their own, with Node's defaults under their usual names (`process_*`, `nodejs_*`),
 * which existing dashboards know. Once a process: prom-client watches garbage collection until the process ends.
 */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const families = build(registry, options);
  collectDefaultMetrics({ register: registry });
  let open = true;
  return {
    meter: {
      counter: (name, labels) => known(families.counters.get(name), name).of(labels),
      gauge: (name, labels) => known(families.gauges.get(name), name).of(labels),
      histogram: (name, labels) => known(families.histograms.get(name), name).family.of(labels),
    },
    async expose() {
      const parts = [await registry.metrics()];
      if (open) parts.push(...Array.from(families.histograms.values(), histogramText));
      return { contentType: registry.contentType, text: parts.join('\n') };
    },
    close() {
      open = false;
      registry.clear();
    },
  };
}

function build(registry: Registry, { version, configHash, maxSeries = MAX_SERIES }: MetricsOptions): Families {
  const families: Families = { counters: new Map(), gauges: new Map(), histograms: new Map() };
  const infos = { version, node: process.versions.node, hash: configHash };
  for (const [name, row] of Object.entries(INSTRUMENTS)) {
    const base = { name: PREFIX + name, help: row.help, labelNames: [...row.labels], registers: [registry] };
    const family = <Cell>(make: () => Cell) => new Family(row.labels, make, maxSeries);
    if (row.kind === 'counter') families.counters.set(name, exposeCounter(base, family(newCounter)));
    else if (row.kind === 'gauge') families.gauges.set(name, exposeGauge(base, family(newGauge)));
    else if (row.kind === 'info') exposeGauge(base, family(newGauge)).of(infos).set(1);
    else
      families.histograms.set(name, { ...base, bounds: row.buckets, family: family(() => newHistogram(row.buckets)) });
  }
  return families;
}

const newCounter = () => new CounterCell();
const newGauge = () => new GaugeCell();
const newHistogram = (bounds: readonly number[]) => new HistogramCell(bounds);

interface Base {
  name: string;
  help: string;
  labelNames: string[];
  registers: Registry[];
}

function exposeCounter(base: Base, family: Family<CounterCell>): Family<CounterCell> {
  new Counter({
    ...base,
    collect() {
      this.reset();
      for (const { labels, cell } of family.all()) this.inc(labels, cell.value);
    },
  });
  return family;
}

function exposeGauge(base: Base, family: Family<GaugeCell>): Family<GaugeCell> {
  new Gauge({
    ...base,
    collect() {
      this.reset();
      for (const { labels, cell } of family.all()) this.set(labels, cell.value);
    },
  });
  return family;
}

function known<T>(found: T | undefined, name: string): T {
  if (found === undefined) throw new Error(`there is no instrument ${name} of this kind`);
  return found;
}
