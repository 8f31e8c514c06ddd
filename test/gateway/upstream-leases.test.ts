import { describe, expect, test } from 'vitest';
import { modernScript } from '../support/modern-script.ts';
import { openPool, tenant, user } from '../support/opened-pool.ts';
import { type Asked, offering, type Script } from '../support/scripted-upstream.ts';

const initialized = ({ result }: Asked) =>
  result({ protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'up', version: '1' } });
const unknownMethod = ({ error }: Asked) => error({ code: -32601, message: 'Method not found' });
const DEFAULTS: Script = { initialize: initialized, 'server/discover': unknownMethod };

/** Keeps every request of one method until the test answers it. */
function keeping(method: string) {
  const kept: Asked[] = [];
  return { kept, script: { [method]: (asked: Asked) => void kept.push(asked) } };
}

test('a handshake upstream lends links that serve one call each', async () => {
  const { pool, known } = await openPool(offering('act'));
  await known();
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

test('one that nobody knows yet lends the session’s own link', async () => {
  const { pool } = await openPool(offering('act'));
  const before = pool.lends('up');
  const { link } = await pool.lease('up', user, tenant);
  expect([before, link === (await pool.acquire('up', user)), pool.lends('up')]).toEqual([false, true, true]);
});

test.each<[string, Script, boolean]>([
  ['handshake', offering('act'), true],
  ['modern', modernScript({ tools: {} }), false],
])('a %s upstream that is away lends as it did when it was there', async (_era, script, lends) => {
  let gone = false;
  const unless = (method: string) => (asked: Asked) => {
    if (gone) asked.error({ code: -32603, message: 'away' });
    else (script[method] ?? DEFAULTS[method])?.(asked);
  };
  const opens = { 'server/discover': unless('server/discover'), initialize: unless('initialize') };
  const { pool, upstream, known } = await openPool({ ...script, ...opens });
  await known();
  gone = true;
  upstream.links[0]?.hangUp();
  upstream.links[1]?.hangUp();
  await expect.poll(() => pool.catalogueLink('up')).toBeUndefined();
  await expect(pool.acquire('up', user)).rejects.toMatchObject({ reason: 'upstream_unavailable' });
  expect(pool.lends('up')).toBe(lends);
});

describe('a session that is released', () => {
  test('while its call waits for an upstream nobody knows yet opens nothing', async () => {
    const { kept, script } = keeping('server/discover');
    const { pool, upstream, known, links } = await openPool({ ...offering('act'), ...script });
    const lent = pool.lease('up', user, tenant);
    await expect.poll(() => kept).toHaveLength(1);
    pool.release('s');
    for (const asked of kept) unknownMethod(asked);
    await expect(lent).rejects.toMatchObject({ reason: 'upstream_closed' });
    await known();
    expect([links(), upstream.links.length]).toEqual([0, 2]);
  });

  test('while a link is lent to it has none afterwards', async () => {
    const { kept, script } = keeping('initialize');
    const { pool, known, links } = await openPool({ ...offering('act'), ...script });
    await expect.poll(() => kept).toHaveLength(1);
    for (const asked of kept.splice(0)) initialized(asked);
    await known();
    const lent = pool.lease('up', user, tenant);
    await expect.poll(() => kept).toHaveLength(1);
    const before = links();
    pool.release('s');
    for (const asked of kept) initialized(asked);
    await expect(lent).rejects.toMatchObject({ reason: 'upstream_closed' });
    expect([before, links()]).toEqual([1, 0]);
  });

  test('gets no link any more, for whatever it still waited', async () => {
    const { pool, upstream, known, links } = await openPool(offering('act'));
    await known();
    await pool.acquire('up', user);
    pool.release('s');
    const late = [pool.acquire('up', user), pool.lease('up', user, tenant), pool.subscribe('up', 'note://one', user)];
    for (const each of late) await expect(each).rejects.toMatchObject({ reason: 'upstream_closed' });
    await pool.setLevel('info', user);
    await expect.poll(links).toBe(0);
    expect(upstream.links).toHaveLength(3);
    const next = { ...user };
    expect((await pool.acquire('up', next)).peer.era).toBe('handshake');
  });
});

test('the end of a leased link is a warning only where the upstream ended it', async () => {
  const { pool, upstream, known, events } = await openPool(offering('act'));
  await known();
  const unclean = await pool.lease('up', user, tenant);
  unclean.release(false);
  const released = await pool.lease('up', user, tenant);
  released.release(true);
  pool.release('s');
  const other = { ...user, session: 'other' };
  const { link } = await pool.lease('up', other, tenant);
  expect(events()).not.toContain('session_link_closed');
  upstream.links.at(-1)?.hangUp();
  await expect.poll(() => events().filter((event) => event === 'session_link_closed')).toHaveLength(1);
  expect(link.inFlight).toBe(0);
});
