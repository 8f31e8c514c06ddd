import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DRAINED, DRAINING_DATA } from '../support/drained.ts';
import { recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { errorAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';
import { serve } from '../support/serving.ts';
import { isAlive } from '../support/stdio/child.ts';

const record = recordFile();
const events = (stderr: string) =>
  stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).event);
const pids = () => record.lines().flatMap((line) => /^pid (\d+)$/.exec(line)?.[1] ?? []);

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s ends a gateway without sockets at once', async (signal) => {
  const served = await serve({ mcpServers: { up: stdioUpstream('plain.mjs', [], { isolation: 'shared' }) } });
  const { code, stderr, tookMs } = await served.stop(signal);
  expect(code).toBe(0);
  expect(events(stderr).slice(-2)).toEqual(['stopping', 'stopped']);
  expect(tookMs).toBeLessThan(1000);
});

test('a second signal ends calls in flight and the notice, and the exit code is 0 all the same', async () => {
  const served = await serve({
    timing: { drain: { notice: '1m' } },
    mcpServers: { up: stdioUpstream('plain.mjs', [record.path]) },
  });
  const client = await openRaw(served.url);
  client.send(toolCall(1, 'up__wait'));
  await expect.poll(() => record.lines().some((line) => line.startsWith('waiting'))).toBe(true);
  served.signal('SIGTERM');
  await expect.poll(async () => (await fetch(`${served.opsUrl}/readyz`)).status).toBe(503);
  const start = performance.now();
  served.signal('SIGINT');
  expect(await client.json()).toEqual(errorAnswer(1, -32603, 'The gateway is shutting down', DRAINING_DATA));
  expect(await client.closed).toEqual(DRAINED);
  const { code, stderr } = await served.ended;
  expect(code).toBe(0);
  expect(performance.now() - start).toBeLessThan(3000);
  expect(events(stderr).filter((event) => /^stop/.test(event))).toEqual(['stopping', 'stopping_forced', 'stopped']);
  expect(pids().filter(isAlive)).toEqual([]);
});

test('nor does a client that keeps its socket open hold up a forced stop', async () => {
  const served = await serve({ timing: { drain: { notice: '1m' } } });
  const client = await openRaw(served.url);
  client.socket.pause();
  served.signal('SIGTERM');
  await expect.poll(async () => (await fetch(`${served.opsUrl}/readyz`)).status).toBe(503);
  const { code, tookMs } = await served.stop('SIGTERM');
  expect(code).toBe(0);
  expect(tookMs).toBeLessThan(3000);
});

describe('what runs and never closes', () => {
  test('is ended when its time is over, exit code 0', async () => {
    const { child, ended } = await stuck();
    child.kill('SIGTERM');
    expect(await ended).toEqual({ code: 0, said: ['info stopping', 'error stopping_overdue'] });
  });

  test('is ended so too after an error that nobody caught, exit code 1', async () => {
    const { child, ended } = await stuck();
    child.stdin.write('throw');
    expect(await ended).toEqual({ code: 1, said: ['error stopping', 'error stopping_overdue'] });
  });

  test('is ended at once by an error while it stops', async () => {
    const { child, said, ended } = await stuck(60_000);
    child.kill('SIGTERM');
    await expect.poll(said).toContain('info stopping');
    child.stdin.write('reject');
    expect(await ended).toEqual({ code: 1, said: ['info stopping', 'error stopping'] });
  });
});

/** A process that stops as `serve` does, and has something in it that never closes. It throws or rejects as it is told to. */
async function stuck(limit = 300) {
  const script = `
    import { stopOnSignal } from ${JSON.stringify(pathToFileURL(resolve('dist/cli/stop-on-signal.js')).href)};
    const say = (level) => (event) => console.log(level + ' ' + event);
    const log = { info: say('info'), warn: say('warn'), error: say('error') };
    stopOnSignal({ close: () => new Promise(() => {}), force() {} }, ${limit}, log);
    process.stdin.on('data', (what) => {
      if (String(what) === 'throw') throw new Error('thrown');
      void Promise.reject(new Error('rejected'));
    });
    console.log('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  await expect.poll(() => out, { timeout: 5000 }).toBe('ready\n');
  const said = () => out.trim().split('\n').slice(1);
  const ended = once(child, 'close').then(([code]) => ({ code, said: said() }));
  return { child, said, ended };
}
