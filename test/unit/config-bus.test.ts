import { describe, expect, test } from 'vitest';
import { readRedisAddress } from '../../src/config/redis-address.ts';
import { ANONYMOUS, accepted, problems } from '../support/config-fixtures.ts';

const KEY = '0123456789abcdef0123456789abcdef';
const SEAL = `seal: { keys: [${KEY}] }\n`;
const plain = { tls: false, username: undefined, password: undefined };

describe('the address of a Redis', () => {
  test.each([
    ['redis://127.0.0.1', { kind: 'single', ...plain, node: { host: '127.0.0.1', port: 6379 }, database: 0 }],
    [
      'rediss://gateway:p%40ss@redis.example.com:6380/3',
      {
        kind: 'single',
        tls: true,
        username: 'gateway',
        password: 'p@ss',
        node: { host: 'redis.example.com', port: 6380 },
        database: 3,
      },
    ],
    [
      'redis://:secret@[2001:db8::1]:7000/',
      {
        kind: 'single',
        tls: false,
        username: undefined,
        password: 'secret',
        node: { host: '2001:db8::1', port: 7000 },
        database: 0,
      },
    ],
    [
      'redis-sentinel://u:p@a:1,[::1],b/2?sentinelMasterId=my-master',
      {
        kind: 'sentinel',
        tls: false,
        username: 'u',
        password: 'p',
        nodes: [
          { host: 'a', port: 1 },
          { host: '::1', port: 26379 },
          { host: 'b', port: 26379 },
        ],
        master: 'my-master',
        database: 2,
      },
    ],
    [
      'rediss-sentinel://a?sentinelMasterId=m',
      { kind: 'sentinel', ...plain, tls: true, nodes: [{ host: 'a', port: 26379 }], master: 'm', database: 0 },
    ],
    [
      'redis-cluster://a:7000,b:7001/0',
      {
        kind: 'cluster',
        ...plain,
        nodes: [
          { host: 'a', port: 7000 },
          { host: 'b', port: 7001 },
        ],
      },
    ],
    ['rediss-cluster://a', { kind: 'cluster', ...plain, tls: true, nodes: [{ host: 'a', port: 6379 }] }],
  ])('%s', (text, address) => {
    expect(readRedisAddress(text)).toEqual(address);
  });

  test.each([
    '',
    'redis://',
    'http://127.0.0.1',
    'REDIS://127.0.0.1',
    'redis://a:0',
    'redis://a:65536',
    'redis://a,b',
    'redis://a/x',
    'redis://a/0/1',
    'redis://a?db=1',
    'redis://a#b',
    'redis://user@a',
    'redis://user:@a',
    'redis://u:p@ss@a',
    'redis://u:p/w@a',
    'redis://u:%zz@a',
    'redis:// a',
    'redis://a?sentinelMasterId=m',
    'redis-sentinel://a:26379/0',
    'redis-sentinel://a?sentinelMasterId=',
    'redis-sentinel://a,?sentinelMasterId=m',
    'redis-cluster://a/1',
    'redis-cluster://::1',
    `redis-cluster://${Array.from({ length: 65 }, (_, at) => `h${at}`).join(',')}`,
  ])('refused: %s', (text) => {
    expect(readRedisAddress(text)).toBeUndefined();
  });
});

describe('bus', () => {
  test('has a prefix of its own where none is given', () => {
    const { bus } = accepted(`${ANONYMOUS}${SEAL}bus: { redis: "redis://127.0.0.1:6379" }`);
    expect(bus).toEqual({ redis: 'redis://127.0.0.1:6379', prefix: 'mcp-ws' });
  });

  test('needs keys that replicas share', () => {
    expect(problems(`${ANONYMOUS}bus: { redis: "redis://127.0.0.1" }`)).toEqual([
      'seal.keys must hold a key beside bus: replicas share it',
    ]);
  });

  test('a wrong address is named by its key, and nothing of it is quoted', () => {
    const sentences = problems(`${ANONYMOUS}${SEAL}bus: { redis: "redis://u:hunter2@a:b", prefix: "{x}" }`);
    expect(sentences).toEqual([
      expect.stringMatching(/^bus\.redis must be a URL such as redis:/),
      'bus.prefix must be 1 to 64 of A-Z, a-z, 0-9, _, ., : and -',
    ]);
    expect(sentences.join()).not.toContain('hunter2');
  });
});
