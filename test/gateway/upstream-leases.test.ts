import { resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfigText } from '../../src/config/load.ts';
import { systemClock } from '../../src/observe/clock.ts';
import type { LinkUser, Tenant } from '../../src/ports/link.ts';
import { upstreamOptions } from '../../src/upstream/configured.ts';
import { UpstreamPool } from '../../src/upstream/pool.ts';
import { modernScript } from '../support/modern-script.ts';
import { recordedLog, recordedMeter } from '../support/recorded.ts';
import { offering, type Script, scriptedUpstream } from '../support/scripted-upstream.ts';

const nothing = () => {};
const user: LinkUser = {
  session: 's',
  capabilities: {},
  updated: nothing,
  logged: nothing,
  listChanged: nothing,
  linkClosed: nothing,
  asked: () => nothing,
  notified: nothing,
  vendor: nothing,
};
const tenant: Tenant = { asked: () => nothing, logged: nothing };

async function openPool(script: Script, more: object = {}) {
  const upstream = await scriptedUpstream(script, { ...more });
  const text = JSON.stringify({ auth: { mode: 'anonymous' }, mcpServers: { up: upstream.entry } });
  const loaded = loadConfigText(text, resolve('config/test.yaml'), {});
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  const deps = { clock: systemClock(), log: recordedLog(), meter: recordedMeter() };
  const options = upstreamOptions(loaded.config, { ...deps, environment: {}, atExit: () => nothing });
  const events = { up: nothing, down: nothing, listChanged: nothing, updated: nothing };
  const pool = new UpstreamPool(options, { ...deps, random: Math.random }, events);
  onTestFinished(() => pool.close());
  pool.start();
  return { pool, upstream };
}

test('a handshake upstream lends links that serve one call each', async () => {
  const { pool } = await openPool(offering('act'));
  const [one, two] = [await pool.lease('up', user, tenant), await pool.lease('up', user, tenant)];
  expect(pool.lends('up')).toBe(true);
  expect(one.link.peer.era).toBe('handshake');
  expect(new Set([one.link, two.link, await pool.acquire('up', user), pool.catalogueLink('up')]).size).toBe(4);
});

test('a modern upstream lends the session’s own link, also to the call that finds out what it is', async () => {
  const { pool, upstream } = await openPool(modernScript({ tools: {} }));
  const [one, two] = [await pool.lease('up', user, tenant), await pool.lease('up', user, tenant)];
  expect(pool.lends('up')).toBe(false);
  const own = await pool.acquire('up', user);
  expect([one.link === own, two.link === own]).toEqual([true, true]);
  one.release(false);
  await own.ask('tools/list');
  expect(upstream.links).toHaveLength(2);
});

test.each([
  ['handshake', offering('act')],
  ['modern', modernScript({ tools: {} })],
])('a shared %s upstream lends its one link', async (era, script) => {
  const { pool } = await openPool(script, { isolation: 'shared' });
  const { link } = await pool.lease('up', user, tenant);
  expect([link.peer.era, link === pool.catalogueLink('up'), pool.lends('up')]).toEqual([era, true, false]);
});
