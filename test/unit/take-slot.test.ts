import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Pending } from '../../src/http/pending.ts';
import { Slots } from '../../src/http/slots.ts';
import { takeSlot } from '../../src/http/take-slot.ts';
import type { Leases } from '../../src/ports/leases.ts';

const LIMITS = { connections: 10, connectionsPerPrincipal: 2, connectionsPerAddress: null };

/** Leases that answer when they are told to. */
function slowLeases() {
  const asked: { readonly count: number; answer(fits: boolean): void }[] = [];
  const settled: number[] = [];
  const leases: Leases = {
    claim: (_owner, count) => new Promise((resolve) => void asked.push({ count, answer: resolve })),
    settle: (_owner, count) => void settled.push(count),
    close: async () => {},
  };
  return { asked, settled, leases };
}

function door(max = 10) {
  const remote = slowLeases();
  const pending = new Pending(max);
  const state = { draining: false };
  const deps = { slots: new Slots(LIMITS, remote.leases), pending, draining: () => state.draining };
  const take = (socket = new Socket()) => takeSlot(socket, 'alice', '', deps);
  const answer = (at: number, fits: boolean) => remote.asked[at]?.answer(fits);
  return { ...remote, pending, state, deps, take, answer };
}

test('without other replicas a slot is had at once, and nothing is waited for', () => {
  const deps = { slots: new Slots(LIMITS), pending: new Pending(0), draining: () => false };
  const taken = [1, 2, 3].map(() => takeSlot(new Socket(), 'alice', '', deps));
  expect(taken).toEqual([undefined, undefined, 'connections_per_principal']);
});

test('a slot is claimed beside other replicas’ with the count of all there are here', async () => {
  const { take, asked, answer } = door();
  const taken = [take(), take()];
  expect(asked.map(({ count }) => count)).toEqual([1, 2]);
  answer(0, true);
  answer(1, true);
  expect(await Promise.all(taken)).toEqual([undefined, undefined]);
  expect(await take()).toBe('connections_per_principal');
  expect(asked).toHaveLength(2);
});

test('a slot that other replicas leave no room for is given back, here and there', async () => {
  const { take, answer, settled, deps } = door();
  const taken = take();
  answer(0, false);
  expect(await taken).toBe('connections_per_principal');
  expect(settled).toEqual([0]);
  expect(typeof deps.slots.reserve('alice', '')).toBe('function');
});

test('a socket that closes gives its slot back once, while it waits as well as afterwards', async () => {
  const { take, answer, settled } = door();
  const [early, late] = [new Socket(), new Socket()];
  const taken = [take(early), take(late)];
  early.emit('close');
  expect(settled).toEqual([1]);
  answer(0, false);
  answer(1, true);
  await Promise.all(taken);
  late.emit('close');
  expect(settled).toEqual([1, 0]);
});

test('a socket that is gone already holds no slot and asks nobody', () => {
  const { take, asked, deps } = door();
  const gone = new Socket();
  gone.destroy();
  expect([1, 2, 3].map(() => take(gone))).toEqual([undefined, undefined, undefined]);
  expect(asked).toEqual([]);
  expect(typeof deps.slots.reserve('alice', '')).toBe('function');
});

test('who waits while the drain begins is refused, and its slot is given back', async () => {
  const { take, answer, settled, state } = door();
  const taken = take();
  state.draining = true;
  answer(0, true);
  expect(await taken).toBe('draining');
  expect(settled).toEqual([0]);
});

test('those who wait for an answer count among the pending, and one over these waits for none', async () => {
  const { take, answer, pending, settled, asked } = door(1);
  const first = take();
  expect(pending.isFull).toBe(true);
  expect(take()).toBe('pending');
  expect([settled, asked.length]).toEqual([[1], 1]);
  answer(0, true);
  expect(await first).toBeUndefined();
  expect(pending.isFull).toBe(false);
});
