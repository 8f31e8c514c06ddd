import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { INSTRUMENTS } from '../../src/observe/instruments.ts';

const text = z.string().min(1);
const source = z.object({ type: z.literal('prometheus'), uid: z.literal('$datasource') });
const target = z.object({ refId: text, datasource: source, expr: text, legendFormat: z.string() });
const place = z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() });
const panel = z.object({ id: z.int(), type: text, title: text, gridPos: place });
const shown = panel.extend({
  type: z.enum(['timeseries', 'stat', 'table']),
  description: text,
  datasource: source,
  targets: z.array(target).min(1),
});
const dashboard = z.object({
  uid: z.literal('mcp-ws-gateway'),
  schemaVersion: z.int().min(39),
  templating: z.object({ list: z.array(z.object({ name: text, type: text })) }),
  panels: z.array(z.union([shown, panel.extend({ type: z.literal('row') })])),
});

const { panels, templating } = dashboard.parse(
  JSON.parse(readFileSync('deploy/grafana/dashboards/mcp-ws-gateway.json', 'utf8')),
);
const expressions = panels.flatMap((each) => ('targets' in each ? each.targets.map(({ expr }) => expr) : []));

test('the dashboard shows every instrument, and asks for no other of ours', () => {
  const asked = expressions.flatMap((expression) =>
    [...expression.matchAll(/\bmcp_gateway_(\w+)/g)].map(([, name = '']) => name),
  );
  const named = new Set(asked.map((name) => (name in INSTRUMENTS ? name : name.replace(/_bucket$/, ''))));
  expect([...named].sort()).toEqual(Object.keys(INSTRUMENTS).sort());
});

test('its rows are those an operator looks for', () => {
  expect(panels.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual([
    'Overview',
    'Traffic',
    'Latency',
    'Errors',
    'Upstreams',
    'Memory and what waits',
    'Who may come in',
    'Bus and replicas',
    'Process',
  ]);
});

test('each panel has an id of its own, fits the grid and covers no other', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
});

test('every query is narrowed by the variables for job and replica, and no other variable is used than there is', () => {
  const known = [...templating.list.map(({ name }) => name), '__rate_interval'];
  const used = new Set(
    expressions.flatMap((expression) => [...expression.matchAll(/\$(\w+)/g)].map(([, name]) => name)),
  );
  expect([...used].filter((name) => !known.includes(name ?? ''))).toEqual([]);
  const selectors = expressions.flatMap((expression) => expression.match(/\w+\{[^}]*\}/g) ?? []);
  expect(selectors.filter((selector) => !selector.includes('job=~"$job", instance=~"$instance"'))).toEqual([]);
  expect(expressions.filter((expression) => !expression.includes('{'))).toEqual([]);
});
