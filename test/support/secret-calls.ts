import { expect } from 'vitest';
import { cancellation, toolCall } from './messages.ts';
import { inputRequired, modernRequest } from './modern-messages.ts';
import type { RawClient } from './raw-client.ts';
import type { SecretGateway, Way } from './secret-gateway.ts';
import { refresh } from './token-gateway.ts';

/** For a machine with other work. */
const PATIENT = { timeout: 20_000 };

interface Frame {
  readonly id?: unknown;
  readonly method?: string;
  readonly error?: { readonly data?: { readonly reason?: string } };
}

export interface Talk {
  readonly client: RawClient;
  /** All it has received. */
  readonly frames: readonly string[];
  send(message: object | string): void;
  /** Sends a request, and waits for what answers it whatever comes before. */
  ask(message: { readonly id: string | number }): Promise<Frame>;
}

export function talk(client: RawClient): Talk {
  const frames: string[] = [];
  client.socket.on('message', (data) => frames.push(String(data)));
  const answerTo = (id: unknown) =>
    frames.map((text): Frame => JSON.parse(text)).find((frame) => frame.method === undefined && frame.id === id);
  return {
    client,
    frames,
    send: (message) => client.send(message),
    async ask(message) {
      client.send(message);
      await expect.poll(() => answerTo(message.id), PATIENT).toBeDefined();
      return answerTo(message.id) ?? {};
    },
  };
}

/** A handshake client that can be asked and hears all log messages. */
export async function handshake({ connect }: SecretGateway, way: string | Way): Promise<Talk> {
  const one = talk(await connect(way));
  const clientInfo = { name: 'secret', version: '0' };
  const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo };
  await one.ask(request('init', 'initialize', params));
  one.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await one.ask(request('level', 'logging/setLevel', { level: 'debug' }));
  return one;
}

export const reasonOf = ({ error }: Frame): string => error?.data?.reason ?? '';

function request(id: string, method: string, params: object) {
  return { jsonrpc: '2.0', id, method, params };
}

/** Calls, reads and asks in every way that fails while the gateway runs; returns the reasons of the gateway's own faults. */
export async function takeFaults(gateway: SecretGateway): Promise<string[]> {
  const one = await handshake(gateway, await gateway.token('caller', { sub: 'caller' }));
  const told = [...(await callEach(gateway, one)), ...(await refreshEach(gateway, one))];
  await askOther(gateway, one);
  sendBroken(gateway, one);
  await one.ask(request('barrier', 'ping', {}));
  await sendTooMuch(gateway);
  return [...told, ...(await askModern(gateway))];
}

/** One tool of each kind, with arguments that are looked for. */
async function callEach({ known }: SecretGateway, one: Talk): Promise<string[]> {
  const names = ['run', 'denied', 'ruled', 'fail', 'large', 'twice', 'unheard-of'].map((name) => `up__${name}`);
  const remote = ['500', '401', '302', '200', 'cut'].map((name) => `http__${name}`);
  const told: string[] = [];
  for (const name of [...names, ...remote, 'flaky__500']) {
    told.push(reasonOf(await one.ask(toolCall(name, name, { secret: known.make(`argument of ${name}`) }))));
  }
  const sleep = (n: number) => toolCall(n, 'up__sleep', { secret: known.make(`sleeping ${n}`) });
  one.send(sleep(1));
  const sleeping = [2, 3, 4, 5].map((n) => one.ask(sleep(n)));
  one.send(cancellation(1, known.make('reason of a cancel')));
  told.push(...(await Promise.all(sleeping)).map(reasonOf));
  const asking = one.ask(toolCall('asking', 'up__ask', { secret: known.make('asking') }));
  await answerQuestion(one, known.make('answer to a question'));
  told.push(reasonOf(await asking));
  told.push(reasonOf(await one.ask(toolCall('drop', 'up__drop', { secret: known.make('dropped') }))));
  return told;
}

async function answerQuestion(one: Talk, secret: string): Promise<void> {
  const asked = () =>
    one.frames.map((text): Frame => JSON.parse(text)).find(({ method }) => method === 'elicitation/create');
  await expect.poll(asked, PATIENT).toBeDefined();
  one.send({ jsonrpc: '2.0', id: asked()?.id, result: { action: 'accept', content: { secret } } });
}

/** A token that is none, one over the rate, one of somebody else, one that allows less. */
async function refreshEach(gateway: SecretGateway, one: Talk): Promise<string[]> {
  const { known, token } = gateway;
  await one.ask(refresh('r1', known.make('refreshed with nonsense')));
  const limited = await one.ask(refresh('r2', known.make('refreshed too soon')));
  await one.ask(refresh('r3', [known.make('refreshed with a list')]));
  const two = await handshake(gateway, await token('second', { sub: 'second' }));
  await two.ask(refresh('r4', await token('of another', { sub: known.make('another') })));
  const three = await handshake(gateway, await token('third', { sub: 'third' }));
  await three.ask(refresh('r5', await token('less', { sub: 'third', roles: [] })));
  return [reasonOf(limited)];
}

/** Prompts, resources and completion. Which URI is asked for may be audited, and nothing else. */
async function askOther({ known }: SecretGateway, one: Talk): Promise<void> {
  const given = (name: string) => ({ secret: known.make(name) });
  await one.ask(request('p1', 'prompts/get', { name: 'up__p', arguments: given('argument of a prompt') }));
  await one.ask(request('p2', 'prompts/get', { name: 'up__hidden', arguments: given('of a denied prompt') }));
  await one.ask(request('u1', 'resources/read', { uri: `res://x?key=${known.make('URI')}` }));
  await one.ask(request('u2', 'resources/read', { uri: `res://x?key=denied${known.make('denied URI')}` }));
  await one.ask(request('u3', 'resources/subscribe', { uri: `res://x?key=denied${known.make('subscribed URI')}` }));
  const ref = { type: 'ref/prompt', name: 'up__p' };
  await one.ask(request('c', 'completion/complete', { ref, argument: { name: 'a', value: known.make('completed') } }));
}

/** What cannot be read, or not be taken for what it says. */
function sendBroken({ known }: SecretGateway, one: Talk): void {
  const secret = () => known.make(`broken ${one.frames.length} ${Math.random()}`);
  one.send(request('i1', 'tools/call', { name: 'up__run', arguments: secret() }));
  one.send(
    `{"jsonrpc":"2.0","id":"i2","method":"tools/call","params":{"name":"up__run","arguments":{"a":1,"a":"${secret()}"}}}`,
  );
  one.send(request('i3', 'tools/call', { name: 'up__run', arguments: {}, _meta: secret() }));
  one.send(request('i4', 'secret/method', { secret: secret() }));
  one.send(`{"jsonrpc":"2.0","id":"i5","method":"tools/call","params":{"name":"${secret()}`);
  one.send(`["${secret()}"]`);
  one.send({ jsonrpc: '2.0', id: 'nobody asked', result: { secret: secret() } });
  one.send({ jsonrpc: '2.0', id: { secret: secret() }, method: 'ping' });
}

async function sendTooMuch(gateway: SecretGateway): Promise<void> {
  const one = await handshake(gateway, await gateway.token('large', { sub: 'large' }));
  one.send(toolCall('large', 'up__run', { secret: gateway.known.make('large').padEnd(300_000, 'x') }));
  expect(await one.client.closed).toMatchObject({ code: 1009 });
}

/** A state that is none, a question's answer, and the state that came with the question. */
async function askModern({ known, token, connect }: SecretGateway): Promise<string[]> {
  const one = talk(await connect(await token('modern', { sub: 'modern' })));
  const params = (name: string) => ({ name: 'up__ask', arguments: { secret: known.make(`modern ${name}`) } });
  const capabilities = { elicitation: { form: {} } };
  const content = { secret: known.make('modern answer') };
  const stale = { ...params('stale'), requestState: known.make('made up state'), inputResponses: {} };
  const resourceSubscriptions = [`res://x?key=${known.make('listened URI')}`];
  one.send(modernRequest('listen', 'subscriptions/listen', { notifications: { resourceSubscriptions } }));
  const gone = await one.ask(modernRequest('m1', 'tools/call', stale, { capabilities }));
  const asked = params('asked');
  const { requestState, inputRequests } = inputRequired(
    await one.ask(modernRequest('m2', 'tools/call', asked, { capabilities })),
  ).result;
  const inputResponses = Object.fromEntries(
    Object.keys(inputRequests).map((key) => [key, { action: 'accept', content }]),
  );
  const again = { ...asked, requestState: known.know('state', requestState), inputResponses };
  const late = await one.ask(modernRequest('m3', 'tools/call', again, { capabilities }));
  return [reasonOf(gone), reasonOf(late)];
}
