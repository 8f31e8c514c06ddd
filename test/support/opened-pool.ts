import { resolve } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { loadConfigText } from '../../src/config/load.ts';
import { systemClock } from '../../src/observe/clock.ts';
import type { LinkUser, Tenant } from '../../src/ports/link.ts';
import { upstreamOptions } from '../../src/upstream/configured.ts';
import { UpstreamPool } from '../../src/upstream/pool.ts';
import { recordedLog, recordedMeter } from './recorded.ts';
import { type Script, scriptedUpstream } from './scripted-upstream.ts';

const nothing = () => {};
export const user: LinkUser = {
  session: 's',
  principal: 'p',
  capabilities: {},
  updated: nothing,
  logged: nothing,
  listChanged: nothing,
  linkClosed: nothing,
  wrote: nothing,
  asked: () => nothing,
  notified: nothing,
  vendor: nothing,
};
export const tenant: Tenant = { asked: () => nothing, logged: nothing, waited: -1, displace: nothing };

/** The pool of one scripted upstream, `up`, closed when the test ends. */
export async function openPool(script: Script, more: object = {}) {
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
  const known = () => expect.poll(() => pool.catalogueLink('up')).toBeDefined();
  const links = () => deps.meter.read('links', { upstream: 'up', isolation: 'session' });
  return { pool, upstream, known, links, events: () => deps.log.lines.map(({ event }) => event) };
}
