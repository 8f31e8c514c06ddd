import { expect, test } from 'vitest';
import type { BoundSocket } from '../../src/transport/binding.ts';
import { BufferTotal } from '../../src/transport/buffer-total.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { recordedLog } from '../support/recorded.ts';

/** Bytes in the stories below. */
const K = 1024 * 1024;

function watched(limit: number) {
  const clock = fakeClock();
  const closed: string[] = [];
  const waiting = new Map<string, number>();
  const pipes = { shared: 0, own: new Map<string, number>() };
  let looks = 0;
  const backlogs = () => {
    looks += 1;
    return pipes;
  };
  const log = recordedLog();
  const total = new BufferTotal({ limit, backlogs, clock, log });
  const closing = new Set<string>();
  const open = (session: string, bytes: number) => {
    waiting.set(session, bytes);
    const socket: BoundSocket = {
      buffered: () => waiting.get(session) ?? 0,
      close(name, retryMs) {
        closed.push(`${session} ${name} ${retryMs}`);
        closing.add(session);
      },
      get isClosing() {
        return closing.has(session);
      },
      send() {},
      hold() {},
      pause() {},
      resume() {},
    };
    total.add(session, socket);
  };
  const told = () => log.lines.map(({ event }) => event);
  return { clock, closed, closing, waiting, pipes, total, open, told, looks: () => looks };
}

test('the heaviest sockets are closed until the rest is under the limit, and none for what is closing already', () => {
  const { clock, closed, waiting, total, open } = watched(1000 * K);
  for (const [session, bytes] of Object.entries({ a: 400, b: 900, c: 10, d: 800, e: 500 })) open(session, bytes * K);
  total.growing();
  clock.advance(100);
  expect(closed).toEqual(['b overloaded 5000', 'd overloaded 5000']);
  clock.advance(500);
  expect(closed).toHaveLength(2);
  for (const session of ['b', 'd']) total.remove(session);
  waiting.set('c', 200 * K);
  clock.advance(100);
  expect(closed.slice(2)).toEqual(['e overloaded 5000']);
});

test('what a session’s own upstreams do not read counts with its outbox, what shared ones do not read with nobody’s', () => {
  const { clock, closed, pipes, total, open } = watched(1000 * K);
  open('a', 300 * K);
  open('b', 200 * K);
  pipes.own.set('b', 400 * K);
  total.growing();
  clock.advance(100);
  expect([closed, total.outboxes]).toEqual([[], 500 * K]);
  pipes.shared = 600 * K;
  clock.advance(100);
  expect(closed).toEqual(['b overloaded 5000']);
});

test('nobody is closed for what shared upstreams do not read where that is too much by itself, which is told once', () => {
  const { clock, closed, pipes, total, open, told } = watched(1000 * K);
  open('a', 900 * K);
  pipes.shared = 1001 * K;
  total.growing();
  clock.advance(1000);
  expect([closed, told()]).toEqual([[], ['shared_pipes_over_total']]);
  pipes.shared = 200 * K;
  clock.advance(100);
  expect(closed).toEqual(['a overloaded 5000']);
  pipes.shared = 1001 * K;
  clock.advance(1000);
  expect(told()).toEqual(['shared_pipes_over_total', 'socket_closed_for_memory', 'shared_pipes_over_total']);
});

test('a socket that is being closed for another reason is as good as gone', () => {
  const { clock, closed, closing, pipes, total, open } = watched(1000 * K);
  for (const [session, bytes] of Object.entries({ slow: 900, a: 700, b: 500 })) open(session, bytes * K);
  pipes.own.set('slow', 900 * K);
  closing.add('slow');
  total.growing();
  clock.advance(1000);
  expect(closed).toEqual(['a overloaded 5000']);
});

test('sockets on which little waits stay, however much waits elsewhere', () => {
  const { clock, closed, pipes, total, open } = watched(1000 * K);
  open('a', 65_535);
  pipes.shared = 1000 * K;
  total.growing();
  clock.advance(1000);
  expect(closed).toEqual([]);
});

test('it looks only while something waits', () => {
  const { clock, waiting, total, open, looks } = watched(1000 * K);
  open('a', 10);
  clock.advance(1000);
  expect(looks()).toBe(0);
  for (let n = 0; n < 100; n += 1) total.growing();
  clock.advance(1000);
  expect(looks()).toBe(10);
  waiting.set('a', 0);
  clock.advance(10_000);
  expect(looks()).toBe(11);
});
