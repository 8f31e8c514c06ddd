import { describe, expect, test } from 'vitest';
import type { Link } from '../../src/ports/link.ts';
import { modernScript } from '../support/modern-script.ts';
import { openPool, tenant, user } from '../support/opened-pool.ts';
import { type Asked, offering } from '../support/scripted-upstream.ts';

const other = { ...user, session: 'other' };
const late = { ...user, session: 'late' };
const NO_PLACE = { reason: 'at_capacity', retryAfterMs: 1000 };

const empty = ({ result }: Asked) => result({});
const works = (link: Link) =>
  link.ask('ping').then(
    () => true,
    () => false,
  );

const keep = (kept: Asked[]) => (asked: Asked) => void kept.push(asked);

async function crowdedPool(maxLinks: number) {
  const opened = await openPool(
    { ...offering('act'), 'resources/subscribe': empty, 'resources/unsubscribe': empty },
    { maxLinks },
  );
  await opened.known();
  return opened;
}

describe('where every place is taken, room is made by', () => {
  test('the leased link idle for longest, of whatever session, before any that is a session’s own', async () => {
    const { pool, links } = await crowdedPool(4);
    const own = await pool.acquire('up', other);
    const leases = [
      await pool.lease('up', user, tenant),
      await pool.lease('up', other, tenant),
      await pool.lease('up', user, tenant),
    ];
    const all = [own, ...leases.map(({ link }) => link)];
    leases[1]?.release(true);
    await works(own);
    leases[0]?.release(true);
    await pool.acquire('up', late);
    expect([await Promise.all(all.map(works)), links()]).toEqual([[true, true, false, true], 4]);
    await pool.acquire('up', { ...user, session: 'later' });
    expect(await Promise.all(all.map(works))).toEqual([true, false, false, true]);
  });

  test('a session’s own link unused for longest, whose user is told', async () => {
    const { pool, links } = await crowdedPool(2);
    const told: string[] = [];
    const telling = (session: string) => ({ ...user, session, linkClosed: () => void told.push(session) });
    const [one, two] = [telling('one'), telling('two')];
    const first = await pool.acquire('up', one);
    const second = await pool.acquire('up', two);
    await works(second);
    await pool.acquire('up', one);
    await pool.lease('up', late, tenant);
    expect([await works(first), await works(second), told, links()]).toEqual([true, false, ['two'], 2]);
  });

  test('as many as ask at once, each with a place of its own', async () => {
    const { pool, links } = await crowdedPool(2);
    const before = [await pool.acquire('up', user), await pool.acquire('up', other)];
    const asking = ['a', 'b', 'c'].map((session) => pool.lease('up', { ...user, session }, tenant));
    const outcomes = await Promise.allSettled(asking);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(outcomes[2]).toMatchObject({ reason: NO_PLACE });
    expect([await Promise.all(before.map(works)), links()]).toEqual([[false, false], 2]);
  });
});

describe('no room is made by', () => {
  test('a leased link that serves its call', async () => {
    const { pool } = await crowdedPool(1);
    const { link } = await pool.lease('up', user, tenant);
    await expect(pool.acquire('up', other)).rejects.toMatchObject(NO_PLACE);
    expect(await works(link)).toBe(true);
  });

  test('a session’s own link that has a subscription, or one under way', async () => {
    const { pool } = await crowdedPool(1);
    const subscribed = pool.subscribe('up', 'note://one', user);
    await expect(pool.acquire('up', other)).rejects.toMatchObject(NO_PLACE);
    await subscribed;
    await expect(pool.acquire('up', other)).rejects.toMatchObject(NO_PLACE);
    await pool.unsubscribe('up', 'note://one', user);
    expect(await works(await pool.acquire('up', other))).toBe(true);
  });

  test('a session’s own link of the modern era that listens for an answer to its subscription', async () => {
    const kept: Asked[] = [];
    const script = { ...modernScript({ resources: { subscribe: true } }), 'subscriptions/listen': keep(kept) };
    const { pool } = await openPool(script, { maxLinks: 1 });
    const subscribed = pool.subscribe('up', 'note://one', user);
    await expect.poll(() => kept).toHaveLength(1);
    await expect(pool.acquire('up', other)).rejects.toMatchObject(NO_PLACE);
    for (const { error } of kept) error({ code: -32603, message: 'no' });
    await expect(subscribed).rejects.toThrow();
    expect(await works(await pool.acquire('up', other))).toBe(true);
  });

  test('a session’s own link with a request under way', async () => {
    const { pool } = await crowdedPool(1);
    const link = await pool.acquire('up', user);
    const answer = works(link);
    await expect(pool.acquire('up', other)).rejects.toMatchObject(NO_PLACE);
    expect(await answer).toBe(true);
  });

  test('a link that was given out in the same turn', async () => {
    const { pool } = await crowdedPool(1);
    const link = await pool.acquire('up', user);
    const asked = pool.acquire('up', other);
    const again = await pool.acquire('up', user);
    const answer = works(again);
    await expect(asked).rejects.toMatchObject(NO_PLACE);
    expect([again === link, await answer]).toEqual([true, true]);
  });
});

test('one who no longer wants the link leaves the place to the next', async () => {
  const { pool, links } = await crowdedPool(1);
  await pool.acquire('up', user);
  const unwanted = pool.lease('up', other, tenant);
  pool.release('other');
  await expect(unwanted).rejects.toMatchObject({ reason: 'upstream_closed' });
  expect(await works((await pool.lease('up', late, tenant)).link)).toBe(true);
  expect(links()).toBe(1);
});
