import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';

const UPGRADE =
  'GET /mcp HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const HOST = 'Host: localhost\r\n';

/** The first line of the answer to an upgrade with these headers beside those it needs. */
async function answerTo(url: string, headers: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
  onTestFinished(() => void socket.destroy());
  socket.write(`${UPGRADE}${headers}\r\n`);
  const [chunk] = await once(socket, 'data');
  return String(chunk).split('\r\n', 1).join();
}

test.each([
  ['an Origin', 'Origin: http://evil.example\r\n'],
  ['a header of a proxy', 'X-Forwarded-For: 192.0.2.1\r\n'],
  ['a second token', 'Authorization: Bearer a\r\nAuthorization: Bearer b\r\n'],
])('%s counts behind however many headers', async (_what, header) => {
  const { url } = await startGateway({});
  expect(await answerTo(url, HOST)).toBe('HTTP/1.1 101 Switching Protocols');
  const refusal = await answerTo(url, HOST + header);
  expect(refusal).toMatch(/^HTTP\/1\.1 40[03] /);
  for (const junk of [1000, 3000]) expect(await answerTo(url, HOST + 'a:\r\n'.repeat(junk) + header)).toBe(refusal);
});

test.each([
  ['a good and a bad', `${HOST}Host: evil.example\r\n`],
  ['the same twice', HOST + HOST],
])('two hosts are none: %s', async (_what, hosts) => {
  const { url } = await startGateway({});
  expect(await answerTo(url, hosts)).toBe('HTTP/1.1 403 Forbidden');
});
