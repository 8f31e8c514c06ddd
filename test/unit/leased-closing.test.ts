import { expect, test } from 'vitest';
import type { Link } from '../../src/ports/link.ts';
import { LeasedLinks } from '../../src/upstream/leased-links.ts';
import { Openings } from '../../src/upstream/openings.ts';
import { Users } from '../../src/upstream/users.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { linkOf } from '../support/fake-link.ts';
import { tenant, user } from '../support/opened-pool.ts';
import { recordedLog, recordedMeter } from '../support/recorded.ts';

/** The leased links of one upstream, which opens its links when told to, however little they are wanted by then. */
function leased(close: () => Promise<void>) {
  const shared = { clock: fakeClock(), log: recordedLog(), upstream: 'up' };
  const opening: ((link: Link) => void)[] = [];
  const openings = new Openings({
    ...shared,
    maxLinks: 9,
    children: undefined,
    breaker: { failures: 5, open: 1000, maxOpen: 1000 },
    open: () => new Promise((resolve) => void opening.push(resolve)),
    links: recordedMeter().gauge('links', { upstream: 'up', isolation: 'session' }),
    random: Math.random,
  });
  const links = new LeasedLinks({ ...shared, openings, users: new Users(), idle: 1000, listChanged() {} });
  const opened = () => opening.shift()?.({ ...linkOf('handshake'), close });
  return { links, opened };
}

const later = () => new Promise(setImmediate);

test('the end of all waits for a link that is still being opened, and for its close', async () => {
  const said: string[] = [];
  let closed = () => {};
  const { links, opened } = leased(() => {
    said.push('closing');
    return new Promise((resolve) => {
      closed = resolve;
    });
  });
  const lease = links.lease(user, tenant).catch(({ reason }) => said.push(reason));
  await later();
  const over = links.close().then(() => said.push('over'));
  await later();
  expect(said).toEqual([]);
  opened();
  await later();
  expect(said).toEqual(['closing', 'upstream_closed']);
  closed();
  await Promise.all([lease, over]);
  expect(said).toEqual(['closing', 'upstream_closed', 'over']);
});

test('a link that cannot be closed well is left at that', async () => {
  const unhandled: unknown[] = [];
  const hear = (cause: unknown) => void unhandled.push(cause);
  process.on('unhandledRejection', hear);
  const { links, opened } = leased(() => Promise.reject(new Error('no end')));
  const leasing = links.lease(user, tenant);
  await later();
  opened();
  (await leasing).release(false);
  await later();
  await links.close();
  await later();
  process.off('unhandledRejection', hear);
  expect(unhandled).toEqual([]);
});
