import { afterEach, expect, test } from 'vitest';
import { hearHttp, openHttp } from '../support/heard-channel.ts';
import {
  answerJson,
  callText,
  type Exchange,
  type HttpUpstream,
  INITIALIZE,
  INITIALIZE_ANSWER,
  openHttpUpstream,
  politely,
  startEvents,
} from '../support/http-upstream.ts';

let upstream: HttpUpstream;
afterEach(() => upstream.close());

const CALL =
  '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","arguments":{"id":9223372036854775807,"v":1.0}},"x-vendor":[1e2]}';
const ANSWER = '{"jsonrpc":"2.0","id":2,"result":{"big":9223372036854775807,"vendor":{"ü":"€😀"},"n":1.0}}';

async function called(onCall: (exchange: Exchange) => void) {
  upstream = await openHttpUpstream(politely(onCall));
  const heard = await openHttp(upstream.url);
  heard.channel.send(CALL, 2);
  await expect.poll(() => heard.messages.length + heard.failures.length).toBe(2);
  return heard;
}

test('a call and its JSON answer pass byte for byte', async () => {
  const heard = await called(({ response }) => answerJson(response, ANSWER));
  expect(upstream.exchanges.find(({ body }) => body.includes('tools/call'))?.body).toBe(CALL);
  expect(heard.messages[1]).toBe(ANSWER);
  await heard.channel.close();
});

test('an answer as an event passes byte for byte, also when characters are cut apart', async () => {
  const heard = await called(({ response }) => {
    startEvents(response);
    const bytes = Buffer.from(`event: message\ndata: ${ANSWER}\n\n`);
    const cut = bytes.indexOf('€') + 1;
    response.write(bytes.subarray(0, cut), () => response.end(bytes.subarray(cut)));
  });
  expect(heard.messages[1]).toBe(ANSWER);
  await heard.channel.close();
});

test('the data lines of one event are joined, events of other types and comments are none', async () => {
  const heard = await called(({ response }) => {
    startEvents(response, ': hello\n\nevent: ping\ndata: {}\n\nid: 1\ndata: \n\n');
    response.end('data: {"jsonrpc":"2.0",\ndata: "id":2,"result":{}}\n\n');
  });
  expect(heard.messages[1]).toBe('{"jsonrpc":"2.0",\n"id":2,"result":{}}');
  await heard.channel.close();
});

test('the headers of each request', async () => {
  upstream = await openHttpUpstream(politely(({ response }) => answerJson(response, ANSWER)));
  const heard = await openHttp(upstream.url, { headers: { Authorization: 'Bearer upstream-secret', Accept: '*/*' } });
  heard.channel.send(CALL, 2);
  await expect.poll(() => heard.messages.length).toBe(2);
  await heard.channel.close();
  const sent = upstream.exchanges.map(({ method, headers }) => [
    method,
    headers.authorization,
    headers.accept,
    headers['mcp-session-id'],
    headers['mcp-protocol-version'],
  ]);
  const both = 'application/json, text/event-stream';
  expect(sent).toHaveLength(5);
  expect(sent[0]).toEqual(['POST', 'Bearer upstream-secret', both, undefined, undefined]);
  expect(sent[1]).toEqual(['POST', 'Bearer upstream-secret', both, 's-1', '2025-06-18']);
  expect(sent).toContainEqual(['GET', 'Bearer upstream-secret', 'text/event-stream', 's-1', '2025-06-18']);
  expect(sent[4]).toEqual(['DELETE', 'Bearer upstream-secret', '*/*', 's-1', '2025-06-18']);
  expect(upstream.exchanges[0]?.headers['content-type']).toBe('application/json');
  expect(JSON.stringify(heard.lines)).not.toContain('upstream-secret');
});

test('a header that cannot be sent refuses the dial without quoting its value', async () => {
  upstream = await openHttpUpstream(politely(() => {}));
  const dialled = hearHttp(upstream.url, { headers: { authorization: 'Bearer se\ncret' } });
  await expect(dialled).rejects.toThrow(/authorization/);
  await expect(dialled).rejects.not.toThrow(/cret/);
  await expect(hearHttp('ftp://127.0.0.1/')).rejects.toThrow('not an http or https URL');
});

test('initialize answered as an event opens the session too', async () => {
  upstream = await openHttpUpstream(({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': 's-2' });
    response.end(`data: ${INITIALIZE_ANSWER}\n\n`);
  });
  const heard = await hearHttp(upstream.url);
  heard.channel.send(INITIALIZE, 1);
  await expect.poll(() => heard.messages).toEqual([INITIALIZE_ANSWER]);
  heard.channel.send(callText(2), 2);
  await expect.poll(() => upstream.exchanges.length).toBe(2);
  expect(upstream.exchanges[1]?.headers['mcp-session-id']).toBe('s-2');
  await heard.channel.close();
});
