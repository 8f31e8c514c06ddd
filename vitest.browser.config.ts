import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** What needs a browser, which `npm test` does without. */
export default defineConfig({ test: { ...base.test, include: ['test/browser/*.test.ts'], exclude: [] } });
