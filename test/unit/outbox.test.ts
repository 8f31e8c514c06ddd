import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FrameKind } from '../../src/ports/connection.ts';
import { Outbox } from '../../src/transport/outbox.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { recordedMeter } from '../support/recorded.ts';

const LIMIT = 1000;
const SLOW_MS = 10_000;

/** A socket that takes what it is told to, and links that stop when they are asked to. */
function opened() {
  const clock = fakeClock();
  const meter = recordedMeter();
  const written: string[] = [];
  const said: string[] = [];
  // As Node counts: the write under way in full until its last byte has gone.
  const waiting: { readonly whole: number; left: number }[] = [];
  const sum = (of: 'whole' | 'left') => waiting.reduce((total, write) => total + write[of], 0);
  const sink = {
    buffered: () => sum('whole'),
    untaken: () => waiting[0]?.left ?? 0,
    write: (frame: string) => {
      const whole = Buffer.byteLength(frame);
      written.push(frame);
      waiting.push({ whole, left: whole });
    },
  };
  const drain = (bytes: number) => {
    let left = bytes;
    for (let [first] = waiting; first !== undefined && left > 0; [first] = waiting) {
      const gone = Math.min(left, first.left);
      left -= gone;
      first.left -= gone;
      if (first.left === 0) waiting.shift();
    }
  };
  const outbox = new Outbox({ outbox: LIMIT, slowReader: SLOW_MS }, sink, clock, meter, {
    growing: () => {},
    crowded: (isCrowded) => void said.push(isCrowded ? 'crowded' : 'roomy'),
    giveUp: () => void said.push('gave up'),
  });
  return { clock, meter, written, said, buffered: sink.buffered, drain, outbox };
}

const x = (bytes: number) => 'x'.repeat(bytes);

test('an empty outbox takes a frame of any size, and then nothing that may be lost', () => {
  const { outbox, written, said, meter } = opened();
  outbox.send(x(5000), 'answer');
  expect(said).toEqual([]);
  outbox.send('p', 'progress');
  outbox.send('l', 'log');
  outbox.send('l', 'log');
  expect([written.length, said]).toEqual([1, ['crowded']]);
  expect(meter.read('frames_dropped_total', { kind: 'progress' })).toBe(1);
  expect(meter.read('frames_dropped_total', { kind: 'log' })).toBe(2);
});

test('bytes are counted, not characters', () => {
  const [fits, over] = [opened(), opened()];
  for (const { outbox } of [fits, over]) outbox.send('é'.repeat(400), 'answer');
  fits.outbox.send('é'.repeat(100), 'answer');
  over.outbox.send('é'.repeat(101), 'answer');
  expect([fits.said, over.said]).toEqual([[], ['crowded']]);
});

test('list changes are held back as one each until half the limit has drained', () => {
  const { outbox, written, said, drain, clock, meter } = opened();
  outbox.send(x(1000), 'answer');
  for (const frame of ['tools', 'prompts', 'tools', 'tools']) outbox.send(frame, 'list_changed');
  expect(meter.read('frames_dropped_total', { kind: 'list_changed' })).toBe(2);
  drain(499);
  clock.advance(1000);
  expect([written.length, said]).toEqual([1, ['crowded']]);
  outbox.send(x(500), 'answer');
  drain(1001);
  clock.advance(1000);
  expect([written.slice(2), said]).toEqual([
    ['tools', 'prompts'],
    ['crowded', 'roomy'],
  ]);
});

test('a reader is given up when nothing has drained for the time it has, not while a single byte goes now and then', () => {
  const { outbox, said, drain, clock } = opened();
  outbox.send(x(5000), 'answer');
  outbox.send('own', 'answer');
  for (let round = 0; round < 10; round += 1) {
    clock.advance(SLOW_MS - 100);
    drain(1);
  }
  expect(said).toEqual(['crowded']);
  clock.advance(SLOW_MS - 100);
  expect(said).toEqual(['crowded']);
  clock.advance(200);
  outbox.send('more', 'answer');
  clock.advance(SLOW_MS);
  expect(said).toEqual(['crowded', 'gave up']);
});

test('a reader is given up at once for what comes from a shared link, and only for that', () => {
  const { outbox, written, said } = opened();
  outbox.send(x(600), 'answer', 'shared');
  outbox.send(x(600), 'answer');
  outbox.send('change', 'list_changed');
  expect(said).toEqual(['crowded']);
  outbox.send('one more', 'answer', 'shared');
  outbox.send('late', 'answer');
  expect([written.length, said]).toEqual([2, ['crowded', 'gave up']]);
});

test('what the gateway itself says to a full outbox may come to the limit once more', () => {
  const { outbox, said } = opened();
  outbox.send(x(5000), 'answer');
  outbox.send('over', 'answer');
  outbox.send(x(900), 'answer');
  outbox.send(x(900), 'answer');
  expect(said).toEqual(['crowded']);
  outbox.send('one more', 'answer');
  expect(said).toEqual(['crowded', 'gave up']);
});

const kinds: readonly FrameKind[] = ['answer', 'update', 'list_changed', 'progress', 'log'];
const step = fc.oneof(
  fc.record({
    do: fc.constant('send' as const),
    kind: fc.constantFrom(...kinds),
    size: fc.integer({ min: 1, max: 700 }),
  }),
  fc.record({ do: fc.constant('drain' as const), bytes: fc.integer({ min: 1, max: 2000 }) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 100 }) }),
);

test('whatever is sent and drained: bytes are bounded, order is kept, and nothing is lost but what may be', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const { outbox, written, said, drain, clock, buffered } = opened();
      const sent: { readonly frame: string; readonly kind: FrameKind }[] = [];
      for (const [at, each] of steps.entries()) {
        if (said.includes('gave up')) break;
        if (each.do === 'drain') drain(each.bytes);
        else if (each.do === 'wait') clock.advance(each.ms);
        else {
          const frame = each.kind === 'list_changed' ? 'list_changed' : `${at} ${x(each.size)}`;
          sent.push({ frame, kind: each.kind });
          outbox.send(frame, each.kind);
        }
        // The limit, what took it over that, and as much again with what took that over.
        expect(buffered()).toBeLessThanOrEqual(2 * (LIMIT + 704));
      }
      const wasGivenUp = said.includes('gave up');
      drain(100_000);
      clock.advance(SLOW_MS);
      const must = sent.filter(({ kind }) => kind === 'answer' || kind === 'update').map(({ frame }) => frame);
      // It is one of these that it is given up at.
      if (wasGivenUp) must.pop();
      const answers = new Set(must);
      expect(written.filter((frame) => answers.has(frame))).toEqual(must);
      const changed = sent.findLastIndex(({ kind }) => kind === 'list_changed');
      const before = sent.slice(0, Math.max(0, changed)).findLast(({ frame }) => answers.has(frame));
      const isLast = written.lastIndexOf('list_changed') >= written.indexOf(before?.frame ?? '');
      const isTold = written.includes('list_changed') === changed >= 0 && isLast;
      expect(isTold || wasGivenUp).toBe(true);
      const order = written.filter((frame) => frame !== 'list_changed').map((frame) => Number(frame.split(' ')[0]));
      expect(order).toEqual([...order].sort((a, b) => a - b));
    }),
  );
});
