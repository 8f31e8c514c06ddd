import { expect, test } from 'vitest';
import { script } from '../../src/redis/script.ts';
import { fakeRedis } from '../support/fake-redis.ts';

const SOURCE = 'return 1';
const HASH = 'e0e1f9fabfc9d4800c877a703b823ac0578ff8db';
const run = script(SOURCE);

test('a script is sent by its hash, with its keys and arguments', async () => {
  const redis = fakeRedis();
  expect(await run(redis, ['k1', 'k2'], ['a'])).toBe(1);
  expect(redis.sent).toEqual([['EVALSHA', HASH, '2', 'k1', 'k2', 'a']]);
});

test('a script that the server does not know is sent in full, once', async () => {
  const redis = fakeRedis(async ([name]) => {
    if (name === 'EVALSHA') throw new Error('NOSCRIPT No matching script.');
    return 'done';
  });
  expect(await run(redis, ['k'], [])).toBe('done');
  expect(redis.sent).toEqual([
    ['EVALSHA', HASH, '1', 'k'],
    ['EVAL', SOURCE, '1', 'k'],
  ]);
});

test.each(['ERR something', 'Redis did not answer within 1000 ms', 'LOADING Redis is loading'])(
  'a script that may have run is never sent again: %s',
  async (message) => {
    const redis = fakeRedis(async () => {
      throw new Error(message);
    });
    await expect(run(redis, ['k'], [])).rejects.toThrow(message);
    expect(redis.sent).toHaveLength(1);
  },
);
