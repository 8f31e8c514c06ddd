import { defineConfig } from 'vitest/config';
import { hasRedisServer } from './test/support/redis-server.ts';
import base from './vitest.config.ts';

if (!process.env.REDIS_URL && !hasRedisServer()) {
  console.error('npm run test:redis needs REDIS_URL or a redis-server on PATH.');
  process.exit(1);
}

/** What needs a Redis, which `npm test` does without. */
export default defineConfig({
  test: {
    ...base.test,
    include: ['test/redis/**/*.test.ts'],
    exclude: [],
    testTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
