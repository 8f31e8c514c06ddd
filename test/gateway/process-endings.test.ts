import { resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';
import { type Serving, serve } from '../support/serving.ts';
import { isAlive } from '../support/stdio/child.ts';

const MODULE = { module: resolve('test/support/stdio/modules/crashing.mjs') };
/** For a machine with other work. */
const PATIENT = { timeout: 20_000 };
const LONG_MS = 60_000;
const records = Object.fromEntries(
  ['stubborn', 'second', 'crash', 'crashTwice', 'leave', 'killed'].map((name) => [name, recordFile()]),
);

/** A gateway whose children end neither with their stdin nor by SIGTERM, and a client whose call is with one of them. */
async function busyWith(name: string, script: string, config: object = {}) {
  const record = records[name];
  if (record === undefined) throw new Error(`no record ${name}`);
  const pids = () => record.lines().flatMap((line) => /^pid (\d+)$/.exec(line)?.[1] ?? []);
  const living = () => pids().filter(isAlive);
  onTestFinished(() => {
    for (const pid of living()) process.kill(Number(pid), 'SIGKILL');
  });
  const served: Serving = await serve({
    ...config,
    mcpServers: { own: stdioUpstream(script, [record.path]), module: MODULE },
  });
  const client = await openRaw(served.url);
  client.send(toolCall(1, 'own__wait'));
  await expect.poll(() => record.lines().filter((line) => line.startsWith('waiting')), PATIENT).toHaveLength(1);
  await expect.poll(living, PATIENT).toHaveLength(2);
  return { served, client, living };
}

describe('no descendant is left, though children ignore the end of their stdin and SIGTERM,', () => {
  test(
    'when the gateway stops in time',
    async () => {
      const { served, living } = await busyWith('stubborn', 'stubborn.mjs', {
        timing: { drain: { inFlight: '100ms' } },
      });
      expect((await served.stop('SIGTERM')).code).toBe(0);
      expect(living()).toEqual([]);
    },
    LONG_MS,
  );

  test(
    'when a second signal forces it while a call is under way',
    async () => {
      const { served, client, living } = await busyWith('second', 'stubborn.mjs', {
        timing: { drain: { inFlight: '10m' } },
      });
      const idle = await openRaw(served.url);
      served.signal('SIGTERM');
      await idle.closed;
      expect(living()).toHaveLength(2);
      served.signal('SIGTERM');
      await served.ended;
      await client.closed;
      expect(living()).toEqual([]);
    },
    LONG_MS,
  );

  test.each([
    ['crash', 1],
    ['crashTwice', 1],
    ['leave', 3],
  ])(
    'when its own process ends by itself: %s',
    async (tool, code) => {
      const { served, client, living } = await busyWith(tool, 'stubborn.mjs', {
        timing: { drain: { inFlight: '100ms' } },
      });
      client.send(toolCall(2, `module__${tool}`));
      expect((await served.ended).code).toBe(code);
      expect(living()).toEqual([]);
    },
    LONG_MS,
  );
});

test(
  'when it is killed, children that end with their stdin are gone',
  async () => {
    const { served, living } = await busyWith('killed', 'plain.mjs');
    served.signal('SIGKILL');
    await served.ended;
    await expect.poll(living, PATIENT).toEqual([]);
  },
  LONG_MS,
);
