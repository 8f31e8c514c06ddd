import { describe, expect, test } from 'vitest';
import { advanced, endOf, lossAt, type Position, readStreamState, type StreamState } from '../../src/redis/position.ts';

const state = (lastId: string, length: number, added: number | undefined, firstId?: string): StreamState => ({
  lastId,
  length,
  added,
  firstId,
});
const at = (id: string, count?: number): Position => ({ id, count });

describe('what the server says of a stream', () => {
  test('is its last id, its length, how many were added and its first id', () => {
    expect(readStreamState(['7-2', 3, 9, '5-1'])).toEqual({ lastId: '7-2', length: 3, added: 9, firstId: '5-1' });
  });

  test('before Redis 7 without a count, and of an empty stream without a first entry', () => {
    expect(readStreamState(['7-2', 0, null, null])).toEqual({
      lastId: '7-2',
      length: 0,
      added: undefined,
      firstId: undefined,
    });
  });

  test.each([[null], ['OK'], [[]], [['7-2']], [['7-2', 'x', 9, '5-1']], [['7', 3, 9, '5-1']]])('is not %j', (reply) => {
    expect(readStreamState(reply)).toBeUndefined();
  });
});

describe('whether entries were missed, where the server counts', () => {
  test.each([
    ['an empty server from the start', at('0-0', 0), state('0-0', 0, 0), undefined],
    ['at the end', at('5-0', 10), state('5-0', 10, 10, '1-0'), undefined],
    ['more to come', at('5-0', 10), state('9-0', 14, 14, '1-0'), undefined],
    ['trimmed behind the reader', at('5-0', 10), state('9-0', 4, 14, '6-0'), undefined],
    ['emptied behind the reader', at('5-0', 10), state('5-0', 0, 10), undefined],
    ['one of those to come was trimmed', at('5-0', 10), state('9-0', 3, 14, '7-0'), 'trimmed'],
    ['all of them were', at('5-0', 10), state('9-0', 0, 14), 'trimmed'],
    ['at the end, and one more was added than read', at('5-0', 10), state('5-0', 11, 11, '1-0'), 'missing'],
    ['later entries, and none was added', at('5-0', 10), state('9-0', 10, 10, '1-0'), 'missing'],
    ['at the end of a stream that has fewer', at('5-0', 10), state('5-0', 3, 3, '1-0'), 'missing'],
    ['the stream is gone', at('5-0', 10), state('0-0', 0, 0), 'backwards'],
    ['ids are smaller', at('5-0', 10), state('4-9', 10, 10, '1-0'), 'backwards'],
    ['ids are compared as numbers', at('9-9', 10), state('10-1', 11, 11, '1-0'), undefined],
    [
      'also where they are too large for a float',
      at('18446744073709551615-1', 1),
      state('18446744073709551615-0', 1, 1),
      'backwards',
    ],
  ])('%s', (_, position, said, loss) => {
    expect(lossAt(position, said)).toBe(loss);
  });
});

describe('and where it does not', () => {
  test.each([
    ['at the end', at('5-0'), state('5-0', 10, undefined, '1-0'), undefined],
    ['the last entry read is still there', at('5-0'), state('9-0', 4, undefined, '5-0'), undefined],
    ['the first entry is a later one', at('5-0'), state('9-0', 3, undefined, '5-1'), 'trimmed'],
    ['nothing was read yet', at('0-0'), state('9-0', 3, undefined, '5-1'), undefined],
    ['ids are smaller', at('5-0'), state('4-9', 10, undefined, '1-0'), 'backwards'],
  ])('%s', (_, position, said, loss) => {
    expect(lossAt(position, said)).toBe(loss);
  });
});

test('a position moves by what was read, and to the end', () => {
  expect(advanced(at('5-0', 10), '7-0', 2)).toEqual(at('7-0', 12));
  expect(advanced(at('5-0'), '7-0', 2)).toEqual(at('7-0'));
  expect(endOf(state('9-0', 3, 14, '7-0'))).toEqual(at('9-0', 14));
});
