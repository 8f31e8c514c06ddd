import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/browser/**', 'test/redis/**'],
    setupFiles: ['test/support/property-seed.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: 'forks',
    maxWorkers: 2,
    allowOnly: false,
    coverage: { provider: 'v8', include: ['src/**/*.ts'] },
  },
});
