import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { createMetrics, type Metrics } from '../../src/observe/metrics.ts';
import { parseMetrics, sampleValue } from '../support/prometheus-text.ts';

const opened: Metrics[] = [];
afterEach(() => {
  for (const metrics of opened.splice(0)) metrics.close();
});

function metricsOf(maxSeries?: number): Metrics {
  const metrics = createMetrics({
    version: '1.2.3',
    configHash: 'abc',
    ...(maxSeries === undefined ? {} : { maxSeries }),
  });
  opened.push(metrics);
  return metrics;
}

async function scrape(metrics: Metrics) {
  return parseMetrics((await metrics.expose()).text);
}

describe('metrics', () => {
  it('shows what the handles were told, and nothing twice', async () => {
    const metrics = metricsOf();
    const { meter } = metrics;
    const call = { method: 'tools/call', upstream: 'search', outcome: 'ok' } as const;
    meter.counter('requests_total', call).add();
    meter.counter('requests_total', call).add(2);
    meter.gauge('connections', {}).set(7);
    meter.gauge('connections', {}).add(-2);

    for (const _scrape of [1, 2]) {
      const samples = await scrape(metrics);
      expect(sampleValue(samples, 'mcp_gateway_requests_total', call)).toBe(3);
      expect(sampleValue(samples, 'mcp_gateway_connections')).toBe(5);
      const keys = samples.map(({ name, labels }) => JSON.stringify([name, labels]));
      expect(new Set(keys).size).toBe(keys.length);
    }
  });

  it('writes a histogram as cumulative buckets, sum and count', async () => {
    const metrics = metricsOf();
    const histogram = metrics.meter.histogram('upgrade_duration_seconds', { outcome: 'accepted' });
    for (const seconds of [0.001, 0.002, 0.25, 11, -1, Number.NaN]) histogram.observe(seconds);
    const { text } = await metrics.expose();
    const from = text.indexOf('# HELP mcp_gateway_upgrade_duration_seconds');
    expect(text.slice(from).split('\n').slice(0, 18).join('\n')).toBe(
      `# HELP mcp_gateway_upgrade_duration_seconds From the request for an upgrade to its answer.
# TYPE mcp_gateway_upgrade_duration_seconds histogram
mcp_gateway_upgrade_duration_seconds_bucket{outcome="accepted",le="0.001"} 2
mcp_gateway_upgrade_duration_seconds_bucket{outcome="accepted",le="0.0025"} 3
mcp_gateway_upgrade_duration_seconds_bucket{outcome="accepted",le="0.005"} 3
mcp_gateway_upgrade_duration_seconds_bucket{outcome="accepted",le="0.01"} 3
mcp_gateway_upgrade_duration_seconds_bucket{outcome="accepted",le="0.025"} 3
mcp_gateway_upgrade_duration_seconds_bucket{outcome="accepted",le="0.05"} 3
mcp_gateway_upgrade_duration_seconds_bucket{outcome="accepted",le="0.1"} 3
mcp_gateway_upgrade_duration_seconds_bucket{outcome="accepted",le="0.25"} 4
mcp_gateway_upgrade_duration_seconds_bucket{outcome="accepted",le="0.5"} 4
mcp_gateway_upgrade_duration_seconds_bucket{outcome="accepted",le="1"} 4
mcp_gateway_upgrade_duration_seconds_bucket{outcome="accepted",le="2.5"} 4
mcp_gateway_upgrade_duration_seconds_bucket{outcome="accepted",le="5"} 4
mcp_gateway_upgrade_duration_seconds_bucket{outcome="accepted",le="10"} 4
mcp_gateway_upgrade_duration_seconds_bucket{outcome="accepted",le="+Inf"} 5
mcp_gateway_upgrade_duration_seconds_sum{outcome="accepted"} 11.253
mcp_gateway_upgrade_duration_seconds_count{outcome="accepted"} 5`,
    );
  });

  it('has the series without labels from the start, and says what is running', async () => {
    const samples = await scrape(metricsOf());
    expect(sampleValue(samples, 'mcp_gateway_connections_opened_total')).toBe(0);
    expect(sampleValue(samples, 'mcp_gateway_overhead_seconds_count')).toBe(0);
    expect(sampleValue(samples, 'mcp_gateway_audit_dropped_total')).toBe(0);
    expect(sampleValue(samples, 'mcp_gateway_config_hash_info', { hash: 'abc' })).toBe(1);
    const build = { version: '1.2.3', node: process.versions.node };
    expect(sampleValue(samples, 'mcp_gateway_build_info', build)).toBe(1);
    expect(sampleValue(samples, 'process_start_time_seconds')).toBeGreaterThan(0);
  });

  it('keeps what would spoil a number out of it, so that a scrape cannot fail', async () => {
    const metrics = metricsOf();
    const counter = metrics.meter.counter('audit_dropped_total', {});
    const gauge = metrics.meter.gauge('outbox_bytes', {});
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
      counter.add(bad);
      gauge.add(bad);
      gauge.set(bad);
    }
    counter.add(-3);
    const samples = await scrape(metrics);
    expect(sampleValue(samples, 'mcp_gateway_audit_dropped_total')).toBe(0);
    expect(sampleValue(samples, 'mcp_gateway_outbox_bytes')).toBe(0);
  });

  it('gives one handle for equal labels and different ones for different labels, whatever the values', () => {
    const { meter } = metricsOf();
    const value = fc.string({ maxLength: 4, unit: fc.constantFrom('a', ':', '1', '\0', ',', '"') });
    fc.assert(
      fc.property(value, value, value, value, (method, upstream, method2, upstream2) => {
        const first = meter.histogram('request_duration_seconds', { method, upstream });
        const second = meter.histogram('request_duration_seconds', { upstream: upstream2, method: method2 });
        expect(first === second).toBe(method === method2 && upstream === upstream2);
      }),
      {
        examples: [
          ['a:', 'b', 'a', ':b'],
          ['1', '1:1', '1:1', '1'],
          ['a', '', '', 'a'],
        ],
      },
    );
  });

  it('escapes label values in every kind', async () => {
    const metrics = metricsOf();
    const upstream = 'a"b\\n\nc\\';
    metrics.meter.counter('upstream_restarts_total', { upstream }).add();
    metrics.meter.gauge('upstream_up', { upstream }).set(1);
    metrics.meter.histogram('request_duration_seconds', { method: 'ping', upstream }).observe(1);
    const samples = await scrape(metrics);
    expect(sampleValue(samples, 'mcp_gateway_upstream_restarts_total', { upstream })).toBe(1);
    expect(sampleValue(samples, 'mcp_gateway_upstream_up', { upstream })).toBe(1);
    expect(sampleValue(samples, 'mcp_gateway_request_duration_seconds_count', { method: 'ping', upstream })).toBe(1);
  });

  it('bounds the series of an instrument: the rest is counted together', async () => {
    const metrics = metricsOf(3);
    for (let n = 0; n < 50; n += 1) metrics.meter.counter('connections_refused_total', { reason: `r${n}` }).add();
    metrics.meter.counter('connections_refused_total', { reason: 'r1' }).add();
    const samples = (await scrape(metrics)).filter((one) => one.name === 'mcp_gateway_connections_refused_total');
    expect(samples.map(({ labels, value }) => [labels.reason, value])).toEqual([
      ['r0', 1],
      ['r1', 2],
      ['r2', 1],
      ['other', 47],
    ]);
  });

  it('shows nothing after close, and the handles do no harm', async () => {
    const metrics = metricsOf();
    metrics.close();
    metrics.meter.gauge('connections', {}).add(1);
    expect((await metrics.expose()).text.trim()).toBe('');
  });
});
