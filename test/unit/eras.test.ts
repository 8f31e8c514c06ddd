import { expect, test } from 'vitest';
import type { Link } from '../../src/ports/link.ts';
import type { Era } from '../../src/protocol/era.ts';
import { AnsweredError } from '../../src/protocol/errors.ts';
import { UnusableUpstream } from '../../src/upstream/discover.ts';
import { Eras } from '../../src/upstream/eras.ts';
import type { Opening } from '../../src/upstream/link-options.ts';
import type { Wish } from '../../src/upstream/one-opening.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { linkOf } from '../support/fake-link.ts';
import { recordedLog } from '../support/recorded.ts';

const MINUTE = 60_000;
const SESSION: Wish = { signal: undefined, recheck: false };
const CATALOGUE: Wish = { signal: undefined, recheck: true };

/** An upstream of the eras it `serves`; every attempt waits until it is `answered`, unless `eager`. */
function upstream(options: { fixed?: Era; startTimeout?: number; eager?: boolean } = {}) {
  const { fixed, startTimeout = 9000, eager = true } = options;
  const clock = fakeClock();
  const eras = new Eras({ startTimeout, fixed }, { clock, log: recordedLog() });
  const serves = new Map<Era, Error | undefined>();
  const tried: Opening[] = [];
  const waiting: (() => void)[] = [];
  const attempt = async (opening: Opening): Promise<Link> => {
    tried.push(opening);
    if (!eager) await new Promise<void>((resolve) => waiting.push(resolve));
    opening.signal?.throwIfAborted();
    const failure = serves.get(opening.era);
    if (failure !== undefined) throw failure;
    return linkOf(opening.era);
  };
  return {
    clock,
    eras,
    serves,
    tried,
    eraTried: () => tried.map(({ era }) => era),
    open: async (wish: Wish = SESSION) => (await eras.open(attempt, wish)).peer.era,
    /** Lets the attempts under way go on, and waits until what follows from that is under way. */
    async answered() {
      for (const go of waiting.splice(0)) go();
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    },
  };
}

const refusal = (code = -32601) => new AnsweredError({ code, message: 'no' });

function handshakeOnly(options: Parameters<typeof upstream>[0] = {}) {
  const up = upstream(options);
  up.serves.set('modern', refusal());
  return up;
}

function modernOnly(options: Parameters<typeof upstream>[0] = {}) {
  const up = upstream(options);
  up.serves.set('handshake', refusal(-32022));
  return up;
}

test('an upstream of both eras is of the modern one: one attempt, no other channel', async () => {
  const up = upstream();
  expect(up.eras.known).toBeUndefined();
  expect(await up.open()).toBe('modern');
  expect(up.eraTried()).toEqual(['modern']);
  expect(up.eras.known).toBe('modern');
});

test('one that refuses to be discovered is dialled anew for a handshake', async () => {
  const up = handshakeOnly();
  expect(await up.open()).toBe('handshake');
  expect(up.eraTried()).toEqual(['modern', 'handshake']);
  expect(up.eras.known).toBe('handshake');
});

test.each([
  [9000, 3000],
  [60_000, 20_000],
  [600, 200],
])('of %i ms a probe takes %i at most, the handshake what is left', async (startTimeout, within) => {
  const up = handshakeOnly({ startTimeout, eager: false });
  const opened = up.open();
  await up.answered();
  expect(up.tried[0]).toMatchObject({ within, over: `no answer to server/discover within ${within} ms` });
  up.clock.advance(100);
  await up.answered();
  await up.answered();
  expect(await opened).toBe('handshake');
  const over = `no answer to initialize within ${startTimeout} ms`;
  expect(up.tried[1]).toMatchObject({ within: startTimeout - 100, over });
});

test('what it takes to end a probe beyond its time is not taken from the handshake, also of those who waited', async () => {
  const up = handshakeOnly({ startTimeout: 900, eager: false });
  const opened = [up.open(), up.open()];
  await up.answered();
  up.clock.advance(300 + 2000);
  await up.answered();
  expect(up.tried.slice(1)).toMatchObject([
    { era: 'handshake', within: 600 },
    { era: 'handshake', within: 600 },
  ]);
  await up.answered();
  expect(await Promise.all(opened)).toEqual(['handshake', 'handshake']);
});

test('what is known is not probed again, with all the time there is', async () => {
  const up = handshakeOnly();
  await up.open();
  await up.open();
  expect(up.eraTried()).toEqual(['modern', 'handshake', 'handshake']);
  const modern = upstream();
  await modern.open();
  await modern.open();
  expect(modern.tried.map(({ within }) => within)).toEqual([3000, 9000]);
});

test('openings at one time share one probe', async () => {
  const up = handshakeOnly({ eager: false });
  const opened = [up.open(), up.open(), up.open(CATALOGUE)];
  await up.answered();
  await up.answered();
  await up.answered();
  expect(await Promise.all(opened)).toEqual(['handshake', 'handshake', 'handshake']);
  expect(up.eraTried()).toEqual(['modern', 'handshake', 'handshake', 'handshake']);
});

test('when nobody wants the one that probes any more, the next probes, and none that waits for it hangs', async () => {
  const up = upstream({ eager: false });
  const [first, second] = [new AbortController(), new AbortController()];
  const probing = up.open({ signal: first.signal, recheck: false });
  const waiting = up.open();
  const leaving = up.open({ signal: second.signal, recheck: false });
  await up.answered();
  second.abort(new Error('left'));
  await expect(leaving).rejects.toThrow('left');
  const before = up.eraTried();
  first.abort(new Error('gone'));
  await up.answered();
  await expect(probing).rejects.toThrow('gone');
  await up.answered();
  expect(await waiting).toBe('modern');
  expect(before).toEqual(['modern']);
  expect(up.eraTried()).toEqual(['modern', 'modern']);
});

test.each([
  ['handshake', handshakeOnly],
  ['modern', modernOnly],
] as const)('an abort says nothing about an upstream of the %s era', async (era, make) => {
  const up = make();
  await up.open();
  const gone = AbortSignal.abort(new Error('gone'));
  await expect(up.open({ signal: gone, recheck: false })).rejects.toThrow('gone');
  expect(up.eras.known).toBe(era);
});

test('after ten minutes the catalogue link finds out anew, a session still goes by what is known', async () => {
  const up = handshakeOnly();
  await up.open(CATALOGUE);
  up.clock.advance(10 * MINUTE);
  await up.open(CATALOGUE);
  up.clock.advance(1);
  up.serves.set('modern', undefined);
  expect(await up.open()).toBe('handshake');
  expect(await up.open(CATALOGUE)).toBe('modern');
  expect(await up.open()).toBe('modern');
});

test('after a failed attempt anybody finds out anew', async () => {
  const up = handshakeOnly();
  await up.open();
  up.serves.set('handshake', new Error('the process exited'));
  await expect(up.open()).rejects.toThrow('the process exited');
  expect(up.eras.known).toBeUndefined();
  up.serves.set('modern', undefined);
  expect(await up.open()).toBe('modern');
});

test('what is dropped is found out anew', async () => {
  const up = upstream();
  await up.open();
  up.eras.drop();
  expect(up.eras.known).toBeUndefined();
  expect(await up.open()).toBe('modern');
  expect(up.tried[1]?.within).toBe(3000);
});

test('an upstream that has turned modern is found out in the attempt that its refusal of initialize spoils', async () => {
  const up = handshakeOnly();
  await up.open();
  up.serves.set('handshake', refusal(-32022)).set('modern', undefined);
  expect(await up.open()).toBe('modern');
  expect(up.eraTried()).toEqual(['modern', 'handshake', 'handshake', 'modern']);
  expect(up.eras.known).toBe('modern');
});

test('an upstream that has turned back is found out in the attempt that its refusal of discover spoils', async () => {
  const up = modernOnly();
  await up.open();
  up.serves.set('modern', refusal()).set('handshake', undefined);
  expect(await up.open()).toBe('handshake');
  expect(up.eraTried()).toEqual(['modern', 'modern', 'handshake']);
});

test('one that refuses both says why it refused initialize, and is asked each once', async () => {
  const up = upstream();
  const initialize = refusal(-32000);
  up.serves.set('modern', refusal()).set('handshake', initialize);
  await expect(up.open()).rejects.toBe(initialize);
  expect(up.eraTried()).toEqual(['modern', 'handshake']);
  await expect(up.open()).rejects.toBe(initialize);
  expect(up.eras.known).toBeUndefined();
});

test('one that names a revision it then refuses is not offered a handshake', async () => {
  const up = upstream();
  const unusable = new UnusableUpstream(refusal(-32022));
  up.serves.set('modern', unusable);
  await expect(up.open()).rejects.toBe(unusable);
  expect(up.eraTried()).toEqual(['modern']);
});

test('where the era is given nothing is ever probed', async () => {
  const up = upstream({ fixed: 'handshake' });
  expect(up.eras.known).toBe('handshake');
  up.serves.set('handshake', refusal(-32022));
  await expect(up.open(CATALOGUE)).rejects.toThrow('-32022');
  up.eras.drop();
  up.clock.advance(11 * MINUTE);
  await expect(up.open(CATALOGUE)).rejects.toThrow('-32022');
  expect(up.eraTried()).toEqual(['handshake', 'handshake']);
});

test('what it was found as last is known for ever, also while it has to be found out anew', async () => {
  const up = handshakeOnly();
  expect(up.eras.last).toBeUndefined();
  await up.open();
  up.serves.set('handshake', new Error('the process exited'));
  await expect(up.open()).rejects.toThrow('the process exited');
  expect([up.eras.known, up.eras.last]).toEqual([undefined, 'handshake']);
  up.serves.set('modern', undefined);
  await up.open();
  up.eras.drop();
  expect([up.eras.known, up.eras.last]).toEqual([undefined, 'modern']);
  expect(upstream({ fixed: 'modern' }).eras.last).toBe('modern');
});
