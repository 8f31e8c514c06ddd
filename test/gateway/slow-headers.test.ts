import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { fileGateway } from '../support/file-gateway.ts';
import { openRaw } from '../support/raw-client.ts';
import { upgrade } from '../support/upgrade-request.ts';

const gateway = fileGateway({});
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

/** All that comes back on a connection that sends `head` and then nothing that ends it, and how long that took. */
async function unfinished(head: string) {
  const { host, port } = gateway().address;
  const socket = connect({ host, port });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const before = performance.now();
  socket.write(head);
  const answer = await text(socket);
  return { answer, took: performance.now() - before };
}

test('who does not end its headers, or sends none, is cut within 12 seconds, and open sockets go on', {
  timeout: 30_000,
}, async () => {
  const client = await openRaw(gateway().url);
  const [slow, silent] = await Promise.all([
    unfinished('GET /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: '),
    unfinished(''),
  ]);
  expect(slow.answer).toMatch(/^HTTP\/1\.1 408 /);
  for (const { took } of [slow, silent]) expect(took).toBeLessThan(14_000);
  expect(await client.ask(PING)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
});

test('headers of 31 KiB pass, of 33 KiB are refused 431', async () => {
  const with31 = await upgrade(gateway().url, { headers: { 'x-long': 'x'.repeat(31 * 1024) } });
  expect(with31.status).toBe(101);
  const with33 = await upgrade(gateway().url, { headers: { 'x-long': 'x'.repeat(33 * 1024) } });
  expect(with33.status).toBe(431);
});
