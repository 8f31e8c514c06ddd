import { once } from 'node:events';
import { createServer } from 'node:http';
import { createParser } from 'eventsource-parser';
import { expect, onTestFinished, test } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { startShim } from './shim.ts';

const INITIALIZE = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}';
const call = (id: number | string, token?: number) =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"tools/call","params":{"_meta":{"progressToken":${token ?? 9}}}}`;
const answer = (id: number | string) =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"big":12345678901234567890}}`;
const progress = (token: number) =>
  `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1}}`;
const LOG = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}';
const QUESTION = '{"jsonrpc":"2.0","id":"g1","method":"elicitation/create","params":{}}';

/** A shim before a peer that speaks on command; `status` refuses every upgrade. */
async function open(status?: number) {
  const http = createServer();
  const sockets: WebSocket[] = [];
  const heard: string[] = [];
  const peer = new WebSocketServer({ server: http });
  if (status !== undefined) peer.options.verifyClient = (_info, done) => done(false, status);
  peer.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('message', (data) => heard.push(data.toString()));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const shim = await startShim();
  onTestFinished(async () => {
    await shim.close();
    http.close();
  });
  const address = http.address();
  shim.connectTo(`ws://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
  const post = (body: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(shim.url, { method: 'POST', headers, body, ...(signal === undefined ? {} : { signal }) });
  const say = (...frames: string[]) => {
    for (const frame of frames) sockets[0]?.send(frame);
  };
  return { url: shim.url, post, say, heard, sockets };
}

/** The messages of an event stream, to its end or so many. */
async function messages(response: Response, most = Number.POSITIVE_INFINITY): Promise<string[]> {
  const read: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => read.push(data) });
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (read.length >= most) break;
  }
  return read;
}

async function openSession() {
  const peer = await open();
  const opened = await peer.post(INITIALIZE);
  peer.say(answer(0));
  await messages(opened);
  return { ...peer, headers: { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' } };
}

test('what the one call in flight causes comes on its own stream, untouched, the answer last', async () => {
  const { post, say, headers, heard } = await openSession();
  const response = await post(call(1), headers);
  say(progress(9), LOG, QUESTION, answer(1));
  expect(await messages(response)).toEqual([progress(9), LOG, QUESTION, answer(1)]);
  expect(heard).toEqual([INITIALIZE, call(1)]);
});

test('with two calls in flight progress goes by its token and answers by their ids, the log to the listener', async () => {
  const { post, say, headers, url } = await openSession();
  const listening = await fetch(url, { headers });
  const [one, two] = [await post(call(1, 1), headers), await post(call('1', 2), headers)];
  say(progress(2), progress(1), LOG, answer('1'), answer(1));
  expect(await Promise.all([messages(one), messages(two), messages(listening, 1)])).toEqual([
    [progress(1), answer(1)],
    [progress(2), answer('1')],
    [LOG],
  ]);
});

test('a session ends with DELETE, and with its socket', async () => {
  const { post, headers, url, sockets } = await openSession();
  expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(200);
  await expect.poll(() => sockets.map(({ readyState }) => readyState)).toEqual([WebSocket.CLOSED]);
  expect((await post(call(1), headers)).status).toBe(404);
});

test('a refused upgrade is refused with its status, in both eras', async () => {
  const { post } = await open(403);
  const { body, headers } = modern(1, 'tools/list');
  expect([(await post(INITIALIZE)).status, (await post(body, headers)).status]).toEqual([403, 403]);
});

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

function modern(id: number, method: string) {
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: { _meta: META } });
  return { body, headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method } };
}

test('a modern answer comes under the id of its caller, with the status of its error', async () => {
  const { post, say, heard } = await open();
  const { body, headers } = modern(7, 'ping');
  const response = post(body, headers);
  await expect.poll(() => heard.length).toBe(1);
  say('{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}');
  expect((await response).status).toBe(404);
  expect(await (await response).json()).toEqual({
    jsonrpc: '2.0',
    id: 7,
    error: { code: -32601, message: 'Method not found' },
  });
});

test('a listener hears its own notifications under its own id, and cancels by hanging up', async () => {
  const { post, say, heard } = await open();
  const gone = new AbortController();
  const { body, headers } = modern(7, 'subscriptions/listen');
  const response = post(body, headers, gone.signal);
  await expect.poll(() => heard.length).toBe(1);
  const acknowledged = (subscription: number) =>
    `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":${subscription}}}}`;
  say(acknowledged(1));
  expect(await messages(await response, 1)).toEqual([acknowledged(7)]);
  gone.abort();
  await expect
    .poll(() => heard[1])
    .toBe('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
});

test('a header that contradicts the message is refused before the gateway hears of it', async () => {
  const { post, heard } = await open();
  const { body } = modern(7, 'ping');
  const response = await post(body, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ id: 7, error: { code: -32020 } });
  expect(heard).toEqual([]);
});
