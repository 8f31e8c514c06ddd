import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DRAINED } from '../support/drained.ts';
import { fileGateway, recordFile } from '../support/file-gateway.ts';
import { stdioUpstream } from '../support/gateway.ts';
import { errorAnswer, textAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';
import { failToServe, serve } from '../support/serving.ts';
import { isAlive } from '../support/stdio/child.ts';

const wrapped = recordFile();
const own = recordFile();
const shared = recordFile();
const gateway = fileGateway({
  mcpServers: {
    own: stdioUpstream('plain.mjs', [own.path]),
    shared: stdioUpstream('plain.mjs', [shared.path], { isolation: 'shared' }),
    other: stdioUpstream('plain.mjs', [], { isolation: 'shared' }),
  },
});
const pids = (record: { lines(): string[] }) => record.lines().flatMap((line) => /^pid (\d+)$/.exec(line)?.[1] ?? []);
/** A server that a shell starts, and outlives. */
const throughShell = (script: string, ...args: readonly string[]) => ({
  command: 'sh',
  args: ['-c', `${[process.execPath, `test/support/upstreams/${script}`, ...args].join(' ')}; true`],
  cwd: process.cwd(),
});

describe('a served gateway', () => {
  test('ends within 2 s of SIGTERM, exit code 0, and leaves no descendant', async () => {
    const served = await serve({
      mcpServers: {
        wrapped: throughShell('plain.mjs', wrapped.path),
        deaf: {
          command: 'sh',
          args: ['-c', `sleep 600 & echo "pid $$$$\npid $$!" >> ${wrapped.path}; wait; true`],
        },
      },
    });
    const client = await openRaw(served.url);
    expect(await client.ask(toolCall(1, 'wrapped__echo', { text: 'up' }))).toEqual(textAnswer(1, 'up'));
    // The shell and the sleep of `deaf`, two servers of `wrapped`: those that were asked for their era are gone.
    await expect.poll(() => pids(wrapped).filter(isAlive)).toHaveLength(4);
    const { code, tookMs } = await served.stop('SIGTERM');
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(2000);
    expect(await client.closed).toEqual(DRAINED);
    expect(pids(wrapped).filter(isAlive)).toEqual([]);
  });

  test('ends on SIGINT too, whoever is half-way through a request', async () => {
    const served = await serve({});
    const { hostname, port } = new URL(served.url);
    const half = connect(Number(port), hostname);
    onTestFinished(() => void half.destroy());
    await once(half, 'connect');
    half.write('GET /mcp HTTP/1.1\r\nHost: loc');
    await openRaw(served.url);
    const { code, tookMs } = await served.stop('SIGINT');
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(2000);
  });

  test('with a wrong configuration ends with exit code 1 and sentences', async () => {
    const ended = await failToServe({ limits: { maxMesage: 1 }, auth: { mode: 'jwt' }, admin: { port: 1 } });
    expect(ended.code).toBe(1);
    const lines = ended.stderr.trim().split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/limits\.maxMesage.*maxMessage/),
        expect.stringMatching(/auth\.resource/),
        expect.stringMatching(/admin/),
      ]),
    );
    expect(ended.stderr).not.toMatch(/^ +at /m);
  });

  test.each(['listen', 'ops'])('whose %s port is taken ends with exit code 1 and one sentence', async (section) => {
    const taken = createServer();
    await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done));
    onTestFinished(() => void taken.close());
    const address = taken.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const mcpServers = { up: stdioUpstream('plain.mjs') };
    expect(await failToServe({ [section]: { port }, mcpServers })).toEqual({
      code: 1,
      stderr: `port ${port} on 127.0.0.1 is already in use (${section}.port)\n`,
    });
  });
});

describe('a child that is killed in mid-call', () => {
  test.each([
    ['own', own],
    ['shared', shared],
  ])('(%s) fails that call within a second; others go on, and a later call succeeds', async (upstream, record) => {
    const client = await openRaw(gateway().url);
    client.send(toolCall('kept', 'other__hold', { key: upstream }));
    client.send(toolCall('lost', `${upstream}__wait`));
    await expect.poll(() => record.lines().some((line) => line.startsWith('waiting'))).toBe(true);
    const [first] = pids(record);
    const [last] = pids(record).slice(-1);
    const start = performance.now();
    process.kill(Number(last), 'SIGKILL');
    expect(await client.json()).toEqual(
      errorAnswer('lost', -32603, 'The upstream went away during the call', {
        reason: 'upstream_closed',
        retryable: true,
      }),
    );
    expect(performance.now() - start).toBeLessThan(1000);
    client.send(toolCall('release', 'other__release', { key: upstream }));
    expect(await client.json()).toEqual(textAnswer('kept', upstream));
    expect(await client.json()).toEqual(textAnswer('release', 'released'));
    const again = () => client.ask(toolCall('again', `${upstream}__echo`, { text: 'back' }));
    await expect.poll(again, { timeout: 5000 }).toEqual(textAnswer('again', 'back'));
    expect(pids(record).at(-1)).not.toBe(last);
    expect(first).toBeDefined();
  });
});
