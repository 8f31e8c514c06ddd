import { describe, expect, test } from 'vitest';
import type { Link } from '../../src/ports/link.ts';
import type { Era } from '../../src/protocol/era.ts';
import { AnsweredError } from '../../src/protocol/errors.ts';
import { Eras } from '../../src/upstream/eras.ts';
import type { Opening } from '../../src/upstream/link-options.ts';
import { TimeOver } from '../../src/upstream/time-limit.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { linkOf } from '../support/fake-link.ts';
import { recordedLog } from '../support/recorded.ts';

const refusal = (code: number) => new AnsweredError({ code, message: 'no' });

/** An upstream whose attempts each take `starts` before they are answered, each or one after the other, and end when their time is over; `refuses`: per era. */
function slow(
  starts: number | readonly number[],
  startTimeout: number,
  refuses: Partial<Record<Era, Error>> = { handshake: refusal(-32022) },
) {
  const clock = fakeClock();
  const eras = new Eras({ startTimeout, fixed: undefined }, { clock, log: recordedLog() });
  const tried: [Era, number][] = [];
  const rest = [starts].flat();
  const up = { starts: rest[0] ?? 0, refuses };
  const attempt = async ({ era, within, over }: Opening): Promise<Link> => {
    tried.push([era, within]);
    await Promise.resolve();
    up.starts = rest.length > 1 ? (rest.shift() ?? 0) : up.starts;
    clock.advance(Math.min(up.starts, within));
    if (up.starts > within) throw new TimeOver(over);
    const refused = up.refuses[era];
    if (refused !== undefined) throw refused;
    return linkOf(era);
  };
  const open = async () => (await eras.open(attempt, { signal: undefined, recheck: false })).peer.era;
  return { up, eras, open, tried: () => tried.splice(0) };
}

describe('a modern upstream that says nothing for long after it was dialled', () => {
  test('is tried once more when it refuses initialize, with all the time that is left', async () => {
    // The first start installs it, say.
    const { open, tried } = slow([4000, 1000, 1000], 9000);
    expect(await open()).toBe('modern');
    expect(tried()).toEqual([
      ['modern', 3000],
      ['handshake', 6000],
      ['modern', 5000],
    ]);
    expect(await open()).toBe('modern');
    expect(tried()).toEqual([['modern', 9000]]);
  });

  test('refuses initialize in whatever words', async () => {
    const { open } = slow([4000, 1000, 1000], 9000, { handshake: refusal(-32601) });
    expect(await open()).toBe('modern');
  });

  test.each([
    [4000, 9000, [2000]],
    [5999.5, 9000, []],
    [6000, 9000, []],
  ])('where %d of %d ms leave too little, has all the time in the next opening', async (starts, startTimeout, left) => {
    const { open, tried, eras } = slow(starts, startTimeout);
    await expect(open()).rejects.toThrow('-32022');
    expect(tried().slice(2)).toEqual(left.map((within) => ['modern', within]));
    expect(await open()).toBe('modern');
    expect(tried()).toEqual([['modern', startTimeout]]);
    eras.drop();
    await open().catch(() => {});
    expect(tried()[0]).toEqual(['modern', 3000]);
  });

  test('and none for initialize either, has it every other time', async () => {
    const { open, tried } = slow(8000, 9000);
    await expect(open()).rejects.toThrow('no answer to initialize within 9000 ms');
    expect(await open()).toBe('modern');
    expect(tried()).toEqual([
      ['modern', 3000],
      ['handshake', 6000],
      ['modern', 9000],
    ]);
    const never = slow(10_000, 9000);
    const first = async () => {
      await never.open().catch(() => {});
      return never.tried()[0]?.[1];
    };
    expect([await first(), await first(), await first()]).toEqual([3000, 9000, 3000]);
  });

  test('is the same for those who went by the probe of another', async () => {
    const { open, tried } = slow(4000, 60_000);
    expect(await Promise.all([open(), open()])).toEqual(['modern', 'modern']);
    expect(tried().filter(([era]) => era === 'modern').length).toBeLessThanOrEqual(3);
  });
});

test('where it once opened with a handshake, silence is no reason to probe for longer', async () => {
  const { up, eras, open, tried } = slow(0, 9000, { modern: refusal(-32601) });
  expect(await open()).toBe('handshake');
  eras.drop();
  up.starts = 10_000;
  for (const _ of [1, 2]) await open().catch(() => {});
  expect(tried().flatMap(([era, within]) => (era === 'modern' ? [within] : []))).toEqual([3000, 3000, 3000]);
});

test('a handshake after a probe without an answer is the end of probing', async () => {
  const { open, tried } = slow(4000, 9000, {});
  expect(await open()).toBe('handshake');
  expect(tried().map(([era]) => era)).toEqual(['modern', 'handshake']);
});
