import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import {
  answerJson,
  answerStatus,
  type Exchange,
  type HttpUpstream,
  openHttpUpstream,
  startEvents,
} from '../support/http-upstream.ts';
import { errorAnswer, toolCall } from '../support/messages.ts';
import { openRaw } from '../support/raw-client.ts';
import { offering, scriptedUpstream } from '../support/scripted-upstream.ts';

const HEADERS = { authorization: 'Bearer of-the-upstream' };
const done = (id: number) => ({ jsonrpc: '2.0', id, result: { content: [] } });
const failed = (id: number) =>
  errorAnswer(id, -32603, 'The upstream cannot be reached', { reason: 'upstream_unavailable', retryable: true });

/** Answers all of the opening; a call goes to `onCall`. */
function server(onCall: (exchange: Exchange, id: number) => void): (exchange: Exchange) => void {
  return (exchange) => {
    const { method, body, response } = exchange;
    if (method !== 'POST') return answerStatus(response, 405);
    const { id, method: asked } = JSON.parse(body);
    const result = (value: object) => answerJson(response, JSON.stringify({ jsonrpc: '2.0', id, result: value }));
    if (asked === 'tools/call') return onCall(exchange, id);
    if (asked === 'server/discover') return answerStatus(response, 400);
    if (asked === 'tools/list') return result({ tools: [{ name: 'act', inputSchema: { type: 'object' } }] });
    if (asked !== 'initialize') return answerStatus(response, 202);
    const serverInfo = { name: 's', version: '1' };
    return result({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo });
  };
}

async function opened(handle: (exchange: Exchange) => void): Promise<HttpUpstream> {
  const upstream = await openHttpUpstream(handle);
  onTestFinished(() => upstream.close());
  return upstream;
}

/** A gateway before this upstream and a good one. */
async function beside(bad: object) {
  const good = await scriptedUpstream({ ...offering('act'), 'tools/call': ({ result }) => result({ content: [] }) });
  const gateway = await startGateway({ mcpServers: { bad, good: good.entry } });
  await gateway.ready();
  return { gateway, client: await openRaw(gateway.url) };
}

describe('a redirect is never followed, and nothing is sent to where it points', () => {
  test.each([301, 302, 303, 307, 308])('%i of a call', async (status) => {
    const target = await opened(({ response }) => answerStatus(response, 200));
    const { url } = await opened(
      server(({ response }) => void response.writeHead(status, { location: target.url }).end()),
    );
    const { client } = await beside({ url, headers: HEADERS });
    expect(await client.ask(toolCall(1, 'bad__act'))).toEqual(failed(1));
    expect(await client.ask(toolCall(2, 'good__act'))).toEqual(done(2));
    expect(await client.barrier()).toEqual([]);
    expect(target.exchanges).toEqual([]);
  });

  test.each([
    ['http', (url: string) => ({ url, type: 'http' })],
    ['sse', (url: string) => ({ url, type: 'sse' })],
    ['ws', (url: string) => ({ url: url.replace('http', 'ws') })],
  ])('of all that an %s upstream is asked', async (_type, entryOf) => {
    const target = await opened(({ response }) => answerStatus(response, 200));
    const { url, exchanges } = await redirecting(target.url);
    const { gateway, client } = await beside({ ...entryOf(url), headers: HEADERS });
    expect(gateway.log.filter(({ event }) => event === 'upstream_unavailable')).not.toEqual([]);
    expect(await client.ask(toolCall(1, 'good__act'))).toEqual(done(1));
    expect([exchanges() > 0, target.exchanges]).toEqual([true, []]);
  });

  test('to an address of the cloud or of this machine', async () => {
    for (const location of [
      'http://169.254.169.254/latest/meta-data/',
      'http://localhost/',
      '//127.0.0.1:9464/metrics',
    ]) {
      const { url } = await opened(server(({ response }) => void response.writeHead(307, { location }).end()));
      const { gateway, client } = await beside({ url, headers: HEADERS });
      expect(await client.ask(toolCall(1, 'bad__act'))).toEqual(failed(1));
      expect(JSON.stringify(gateway.log)).not.toContain('of-the-upstream');
    }
  });
});

/** Redirects whatever it is asked, upgrades too. */
async function redirecting(location: string): Promise<{ url: string; exchanges: () => number }> {
  let asked = 0;
  const http = createServer((request, response) => {
    asked += 1;
    request.resume();
    response.writeHead(307, { location }).end();
  });
  http.on('upgrade', (_request, socket) => {
    asked += 1;
    socket.end(`HTTP/1.1 307 Temporary Redirect\r\nLocation: ${location}\r\nConnection: close\r\n\r\n`);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  const { port } = http.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, exchanges: () => asked };
}

describe('an answer that comes a byte at a time keeps nobody beyond the time of a call', () => {
  test.each([
    ['JSON', 'application/json', '{'],
    ['comments of an event stream', 'text/event-stream', ':\n'],
    ['an event', 'text/event-stream', 'data:'],
  ])('%s', async (_what, type, first) => {
    const drip = ({ response }: Exchange) => {
      if (type === 'application/json') response.writeHead(200, { 'content-type': type }).write(first);
      else startEvents(response, first);
      const timer = setInterval(() => response.write(first === ':\n' ? first : ' '), 20);
      response.once('close', () => clearInterval(timer));
    };
    const upstream = await opened(server(drip));
    const { client } = await beside({ url: upstream.url, timeout: '500ms' });
    client.send(toolCall(1, 'bad__act'));
    expect(await client.ask(toolCall(2, 'good__act'))).toEqual(done(2));
    const timedOut = { reason: 'timeout', retryable: false };
    expect(await client.json()).toEqual(errorAnswer(1, -32603, 'The upstream did not answer in time', timedOut));
    expect(await client.barrier()).toEqual([]);
    await expect.poll(() => upstream.exchanges.filter(dripped).every(({ response }) => response.closed)).toBe(true);
  });
});

const dripped = ({ body }: Exchange) => body.includes('"tools/call"');
