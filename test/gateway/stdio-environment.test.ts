import { describe, expect, it } from 'vitest';
import { safeEnvironment } from '../../src/upstream/safe-environment.ts';
import { openChild } from '../support/stdio/child.ts';

describe('environment of a stdio child', () => {
  it('is the safe list and its own variables, never what else the gateway holds', async () => {
    const environment = {
      PATH: process.env.PATH,
      HOME: '/home/gateway',
      LC_ALL: 'C',
      REDIS_URL: 'redis://:secret@localhost',
      JWT_SECRET: 'secret',
      LC_secret: 'secret',
      TERM: '() { :; }',
    };
    const { call } = await openChild({ environment, env: { A: '1' } });
    expect(await call('env')).toEqual({ PATH: process.env.PATH, HOME: '/home/gateway', LC_ALL: 'C', A: '1' });
  });

  it('lets its own variables win', async () => {
    const { call } = await openChild({ environment: { HOME: '/home/gateway' }, env: { HOME: '/srv' } });
    expect(await call('env')).toEqual({ HOME: '/srv' });
  });

  it('knows names in any case on Windows, and what a process needs to start there', () => {
    const parent = { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', JWT_SECRET: 'secret', HOME: '/home' };
    expect(safeEnvironment(parent, { A: '1' }, 'win32')).toEqual({
      Path: 'C:\\bin',
      SystemRoot: 'C:\\Windows',
      A: '1',
    });
  });
});
