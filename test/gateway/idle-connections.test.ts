import { once } from 'node:events';
import { connect, type NetConnectOpts } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { openRaw } from '../support/raw-client.ts';
import { browserGateway, issuer } from '../support/ticketed-gateway.ts';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const gateway = browserGateway({ hosts: ['*'] });

async function connected(at: NetConnectOpts) {
  const socket = connect(at);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

describe('a connection that is no session’s', () => {
  test.each([
    ['GET /other', 404, 'close'],
    ['GET /mcp', 426, 'upgrade, close'],
    ['POST /mcp', 405, 'close'],
    ['GET /.well-known/oauth-protected-resource/mcp', 200, 'close'],
  ])('ends with the answer to %s', async (line, status, header) => {
    const socket = await connected(gateway().address);
    socket.write(`${line} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    const answer = await text(socket);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(/^connection: (.*)$/im.exec(answer)?.[1]).toBe(header);
  });

  test('takes a preflight and then a request for a ticket, and ends soon after', async () => {
    const socket = await connected(gateway().address);
    const parts: string[] = [];
    socket.on('data', (part) => void parts.push(part.toString()));
    const ended = once(socket, 'close');
    const about = 'Host: localhost\r\nOrigin: https://app.example\r\n';
    socket.write(`OPTIONS /mcp/tickets HTTP/1.1\r\n${about}Access-Control-Request-Method: POST\r\n\r\n`);
    await expect.poll(() => parts.join('')).toContain('HTTP/1.1 204 ');
    socket.write(`POST /mcp/tickets HTTP/1.1\r\n${about}Authorization: Bearer ${await issuer.sign()}\r\n\r\n`);
    await expect.poll(() => parts.join('')).toContain('HTTP/1.1 201 ');
    const answeredAt = performance.now();
    await ended;
    expect(performance.now() - answeredAt).toBeLessThan(5000);
  });
});

test('connections that say nothing are cut when there are 512 more than sockets may be open and judged', async () => {
  const own = await startGateway({ limits: { connections: 1, handshakes: { pending: 1, perAddress: null } } });
  const client = await openRaw(own.url);
  await Promise.all(Array.from({ length: 513 }, () => connected(own.address)));
  expect(await text(await connected(own.address))).toBe('');
  expect(await own.metrics()).toContain('connections_refused_total{reason="sockets"} 1\n');
  expect(await client.ask(PING)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
});
