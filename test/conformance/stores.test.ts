import { expect, test } from 'vitest';
import { createSeal } from '../../src/auth/seal.ts';
import { createTickets, TICKET_BOUNDS } from '../../src/auth/ticket.ts';
import { MemoryStore } from '../../src/auth/ticket-store.ts';
import type { StoreEntry } from '../../src/ports/store.ts';
import { storeKit } from '../kits/store-kit.ts';
import { fakeClock } from '../support/fake-clock.ts';

storeKit('memory', {
  open: async (bounds) => {
    const clock = fakeClock();
    return { store: new MemoryStore({ ...bounds, units: 1000 }, clock), pass: async (ms) => clock.advance(ms) };
  },
});

const identity = { issuer: 'i', id: 'alice', roles: ['r'], scopes: ['s'], claims: { n: 1 }, expiresAt: null };
const bounds = { entries: 100, perOwner: 100, units: 10 };
const entry = { owner: 'alice', life: 1000 };

test('the memory store is bounded by the length of what it keeps', async () => {
  const store = new MemoryStore(bounds, fakeClock());
  expect(await store.put('a', { ...entry, value: 'x'.repeat(7) })).toBe('kept');
  expect(await store.put('b', { ...entry, value: 'x'.repeat(4) })).toBe('full');
  await store.take('a');
  expect(await store.put('b', { ...entry, value: 'x'.repeat(10) })).toBe('kept');
});

test('the memory store holds nothing of what has expired or was taken, nor a timer', async () => {
  const clock = fakeClock();
  let timers = 0;
  const counted = {
    ...clock,
    after(ms: number, task: () => void) {
      timers += 1;
      const cancel = clock.after(ms, task);
      return () => {
        timers -= 1;
        cancel();
      };
    },
  };
  const store = new MemoryStore({ ...bounds, units: 1000 }, counted);
  for (const key of ['a', 'b', 'c']) await store.put(key, { ...entry, value: 'x' });
  await store.take('a');
  expect([store.size, timers]).toEqual([2, 2]);
  clock.advance(1000);
  expect([store.size, timers]).toEqual([0, 0]);
  await store.put('d', { ...entry, value: 'x' });
  await store.close();
  expect([store.size, timers]).toEqual([0, 0]);
});

test('a store learns a ticket’s hash, and nothing of which a ticket could be made', async () => {
  const seen: [string, StoreEntry][] = [];
  const clock = fakeClock();
  const store = new MemoryStore(TICKET_BOUNDS, clock);
  const put: MemoryStore['put'] = (key, kept) => {
    seen.push([key, kept]);
    return store.put(key, kept);
  };
  const tickets = createTickets({
    store: { put, take: (key) => store.take(key), close: () => store.close() },
    seal: createSeal([], clock),
    clock,
    clockTolerance: 0,
  });
  const given = await tickets.issue(identity, 'https://app.example');
  const ticket = 'ticket' in given ? given.ticket : '';
  expect(ticket).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(seen.map(([key]) => key)).toEqual([expect.stringMatching(/^[A-Za-z0-9_-]{43}$/)]);
  expect(JSON.stringify(seen)).not.toContain(ticket);
  expect(seen.map(([, { owner, life }]) => [owner, life])).toEqual([['["i","alice"]', 30_000]]);
  expect(await tickets.spend(ticket, 'https://app.example')).toEqual(identity);
});
