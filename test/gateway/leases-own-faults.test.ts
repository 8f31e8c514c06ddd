import { expect, test } from 'vitest';
import type { LinkUser } from '../../src/ports/link.ts';
import { openPool, user } from '../support/opened-pool.ts';
import { offering } from '../support/scripted-upstream.ts';

/** Deeper than anything can be serialised. */
function bottomless(): object {
  let value: object = {};
  for (let depth = 0; depth < 200_000; depth += 1) value = { value };
  return value;
}

/** Serialised once, and then no more. */
function fickle(): object {
  let asked = 0;
  const toJSON = () => {
    asked += 1;
    if (asked > 1) throw new TypeError('not again');
    return {};
  };
  return { toJSON };
}

test.each<[string, () => object, object]>([
  ['cannot be written', bottomless, {}],
  ['cannot be written when it is to be sent', fickle, { breaker: { failures: 2, open: '60s', maxOpen: '60s' } }],
])('what a client declared and %s fails its own calls only', async (_what, declared, more) => {
  const { pool, known, events, links } = await openPool(offering('act'), more);
  await known();
  for (let n = 0; n < 10; n += 1) {
    const hostile: LinkUser = { ...user, session: `s${n}`, capabilities: { elicitation: declared() } };
    await expect(pool.acquire('up', hostile)).rejects.toMatchObject({ reason: 'internal' });
  }
  expect(events().filter((event) => event.startsWith('session_link'))).toEqual(Array(10).fill('session_link_broken'));
  expect(links()).toBe(0);
  const link = await pool.acquire('up', user);
  expect([link.peer.era, pool.lends('up')]).toEqual(['handshake', true]);
});
