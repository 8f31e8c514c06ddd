import { expect, test } from 'vitest';
import { createSeal } from '../../src/auth/seal.ts';
import { createTickets } from '../../src/auth/ticket.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Store } from '../../src/ports/store.ts';
import { fakeClock } from '../support/fake-clock.ts';

const KEYS = ['k'.repeat(32)];
const identity = (id: string, claims: Readonly<Record<string, unknown>> = {}) => ({
  issuer: 'https://idp.example',
  id,
  roles: ['admin'],
  scopes: ['mcp'],
  claims,
  expiresAt: null,
});

/** A store whose values anybody may read and change. */
function openStore() {
  const values = new Map<string, string>();
  const store: Store = {
    put: async (key, { value }) => {
      values.set(key, value);
      return 'kept';
    },
    take: async (key) => {
      const value = values.get(key);
      values.delete(key);
      return value;
    },
    close: async () => {},
  };
  return { values, store };
}

function replica(store: Store, keys = KEYS, clock: Clock = fakeClock()) {
  const tickets = createTickets({ store, seal: createSeal(keys, clock), clock, clockTolerance: 30_000 });
  const issue = async (id: string) => {
    const given = await tickets.issue(identity(id), undefined);
    return 'ticket' in given ? given.ticket : '';
  };
  return { tickets, issue };
}

test('what a store keeps tells nothing of whom a ticket is for', async () => {
  const { values, store } = openStore();
  await replica(store).issue('alice');
  const kept = JSON.stringify([...values]);
  const seen = kept + Buffer.from([...values.values()].join(''), 'base64url').toString('latin1');
  expect(['alice', 'admin', 'idp.example', 'roles'].filter((word) => seen.includes(word))).toEqual([]);
});

test('a ticket of one replica is spent at another that has the same keys, and at no other', async () => {
  const { values, store } = openStore();
  const [one, other, stranger] = [replica(store), replica(store), replica(store, ['s'.repeat(32)])];
  expect(await other.tickets.spend(await one.issue('alice'), undefined)).toEqual(identity('alice'));
  expect(await stranger.tickets.spend(await one.issue('alice'), undefined)).toBeUndefined();
  expect(values.size).toBe(0);
});

test.each([
  ['in the clear', () => JSON.stringify({ identity: identity('root'), origin: null })],
  ['empty', () => ''],
  ['sealed for another ticket', ([, value = '']: readonly string[]) => value],
])('what is written to the store in the place of a ticket’s lets nobody in: %s', async (_name, forged) => {
  const { values, store } = openStore();
  const { tickets, issue } = replica(store);
  const ticket = await issue('alice');
  const [key = ''] = values.keys();
  await issue('root');
  values.set(key, forged([...values.values()]));
  expect(await tickets.spend(ticket, undefined)).toBeUndefined();
});

test('what is put back into the store after it was taken is good no longer than its life and the tolerance', async () => {
  const { values, store } = openStore();
  const clock = fakeClock();
  const { tickets, issue } = replica(store, KEYS, clock);
  const ticket = await issue('alice');
  const [[key, value] = ['', '']] = values;
  clock.advance(59_999);
  expect(await tickets.spend(ticket, undefined)).toEqual(identity('alice'));
  values.set(key, value);
  clock.advance(1);
  expect(await tickets.spend(ticket, undefined)).toBeUndefined();
});

test('clocks of replicas may differ by the tolerance', async () => {
  const { store } = openStore();
  const [late, early] = [fakeClock(), fakeClock()];
  late.advance(29_000);
  expect(
    await replica(store, KEYS, late).tickets.spend(await replica(store, KEYS, early).issue('alice'), undefined),
  ).toEqual(identity('alice'));
});

test('an identity too long to be sealed gets no ticket, and nothing is kept of it', async () => {
  const { values, store } = openStore();
  const claims = { text: 'x'.repeat(256 * 1024) };
  await expect(replica(store).tickets.issue(identity('alice', claims), undefined)).rejects.toThrow(RangeError);
  expect(values.size).toBe(0);
});
