import type { Family, HistogramCell, Labels, Series } from './series.ts';

export interface HistogramFamily {
  /** With its prefix. */
  readonly name: string;
  readonly help: string;
  readonly bounds: readonly number[];
  readonly family: Family<HistogramCell>;
}

/**
 * A histogram in the Prometheus text format 0.0.4: cumulative buckets up to `+Inf`, then sum and count. prom-client
 * renders all else, but takes no buckets counted beforehand, and its own `observe` costs half a microsecond.
 */
export function histogramText({ name, help, bounds, family }: HistogramFamily): string {
  const lines = [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} histogram`];
  for (const series of family.all()) lines.push(...seriesLines(name, bounds, series));
  return `${lines.join('\n')}\n`;
}

function seriesLines(name: string, bounds: readonly number[], { labels, cell }: Series<HistogramCell>): string[] {
  const lines: string[] = [];
  let total = 0;
  for (const [at, count] of cell.counts.entries()) {
    total += count;
    const le = at < bounds.length ? String(bounds[at]) : '+Inf';
    lines.push(`${name}_bucket${labelText({ ...labels, le })} ${total}`);
  }
  const own = labelText(labels);
  lines.push(`${name}_sum${own} ${cell.sum}`, `${name}_count${own} ${total}`);
  return lines;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeValue(value: string): string {
  return escapeHelp(value).replaceAll('"', '\\"');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
