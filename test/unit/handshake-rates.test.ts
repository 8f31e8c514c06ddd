import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type HandshakeLimits, HandshakeRates } from '../../src/http/handshake-rates.ts';
import { fakeClock } from '../support/fake-clock.ts';

function rated(limits: HandshakeLimits) {
  const clock = fakeClock();
  const rates = new HandshakeRates(limits, clock);
  /** The words of `times` that begin at once from one address; `ok` where there is room. */
  const begin = (address: string, times: number) =>
    Array.from({ length: times }, () => rates.begins(address)?.refused ?? 'ok');
  return { clock, rates, begin };
}

const OVER = 'handshakes_per_address';

test('as many at once as is allowed in all, whoever they are, and then as many a second', () => {
  const { clock, begin } = rated({ perSecond: 2, perAddress: null });
  expect(begin('192.0.2.1', 1)).toEqual(['ok']);
  expect(begin('192.0.2.2', 2)).toEqual(['ok', 'handshakes']);
  clock.advance(499);
  expect(begin('192.0.2.3', 1)).toEqual(['handshakes']);
  clock.advance(1);
  expect(begin('192.0.2.3', 2)).toEqual(['ok', 'handshakes']);
  clock.advance(10_000);
  expect(begin('192.0.2.3', 3)).toEqual(['ok', 'ok', 'handshakes']);
});

test('there is no edge of a second at which twice as many come at once', () => {
  const when = fc.array(fc.record({ after: fc.nat(1500), times: fc.nat(40) }), { maxLength: 20 });
  fc.assert(
    fc.property(when, (steps) => {
      const { clock, begin } = rated({ perSecond: 10, perAddress: null });
      const passed = steps.flatMap(({ after, times }) => {
        clock.advance(after);
        return [begin('192.0.2.1', times).filter((word) => word === 'ok').length];
      });
      expect(Math.max(0, ...passed)).toBeLessThanOrEqual(10);
      const elapsed = steps.reduce((sum, { after }) => sum + after, 0);
      expect(passed.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(10 + elapsed / 100);
    }),
  );
});

test('one address has its burst at once, then its rate', () => {
  const { clock, begin } = rated({ perSecond: 100, perAddress: { rate: 1, burst: 3 } });
  expect(begin('192.0.2.1', 4)).toEqual(['ok', 'ok', 'ok', OVER]);
  expect(begin('192.0.2.2', 4)).toEqual(['ok', 'ok', 'ok', OVER]);
  clock.advance(1000);
  expect(begin('192.0.2.1', 2)).toEqual(['ok', OVER]);
  clock.advance(3000);
  expect(begin('192.0.2.1', 4)).toEqual(['ok', 'ok', 'ok', OVER]);
});

test('who is over says when it may come again', () => {
  const { clock, rates } = rated({ perSecond: 4, perAddress: { rate: 1, burst: 1 } });
  rates.begins('192.0.2.1');
  clock.advance(300);
  expect(rates.begins('192.0.2.1')).toEqual({ refused: OVER, retryAfterMs: 700 });
  for (let n = 2; n < 6; n += 1) rates.begins(`192.0.2.${n}`);
  expect(rates.begins('192.0.2.9')).toEqual({ refused: 'handshakes', retryAfterMs: 250 });
});

test('an address over its own rate uses up nothing of what is everybody’s', () => {
  const { begin } = rated({ perSecond: 3, perAddress: { rate: 1, burst: 1 } });
  expect(begin('192.0.2.1', 50).filter((word) => word !== OVER)).toEqual(['ok']);
  expect(begin('192.0.2.2', 1)).toEqual(['ok']);
});

test('addresses of one /64 are one, and a Unix socket is nobody', () => {
  const { begin } = rated({ perSecond: 100, perAddress: { rate: 1, burst: 1 } });
  expect(begin('2001:db8::1', 1)).toEqual(['ok']);
  expect(begin('2001:db8::2', 1)).toEqual([OVER]);
  expect(begin('2001:db8:0:1::2', 1)).toEqual(['ok']);
  expect(begin('', 3)).toEqual(['ok', 'ok', 'ok']);
});

test('nothing is kept of an address that is still, but what it has had', () => {
  const { clock, rates, begin } = rated({ perSecond: 1000, perAddress: { rate: 1, burst: 20 } });
  for (let n = 0; n < 200; n += 1) begin(`192.0.2.${n}`, 2);
  begin('198.51.100.1', 20);
  expect(rates.size).toBe(201);
  clock.advance(10_000);
  expect(rates.size).toBe(1);
  expect(begin('198.51.100.1', 11)).toEqual([...Array.from({ length: 10 }, () => 'ok'), OVER]);
  clock.advance(20_000);
  expect(rates.size).toBe(0);
});

test('nothing is left once it is closed', () => {
  const clock = fakeClock();
  const rates = new HandshakeRates({ perSecond: 10, perAddress: { rate: 1, burst: 1 } }, clock);
  rates.begins('192.0.2.1');
  rates.close();
  expect(rates.size).toBe(0);
});
