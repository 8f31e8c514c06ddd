import { expect, test } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { startGateway } from '../support/gateway.ts';
import { errorAnswer } from '../support/messages.ts';
import { inputRequired, modernRequest } from '../support/modern-messages.ts';
import { connectRaw, type RawClient } from '../support/raw-client.ts';
import { type Asked, offering, scriptedUpstream } from '../support/scripted-upstream.ts';

const FORM = { message: 'm', requestedSchema: { type: 'object', properties: {} } };
const ELICITATION = { jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: FORM };
const AT_CAPACITY = { error: { code: -32603, data: { reason: 'at_capacity', retryAfterMs: 1000 } } };
const GONE = errorAnswer(9, -32602, 'The request state is no longer valid', {
  reason: 'state_gone',
  retryable: false,
});

/** `ask` waits for the client's answer, `act` answers at once. Each socket is a principal of its own. */
async function crowd(maxLinks: number) {
  const clock = fakeClock();
  const script = {
    ...offering('ask', 'act'),
    'tools/call': ({ params, link, result }: Asked) =>
      params.name === 'ask' ? link.send(ELICITATION) : result({ content: [] }),
  };
  const { entry, links } = await scriptedUpstream(script, { maxLinks });
  const gateway = await startGateway({ limits: { pingInterval: '60m' }, mcpServers: { up: entry } }, clock);
  await gateway.ready();
  const cancelled = () => links.filter(({ heard }) => heard.some(isCancellation)).length;
  const logged = () => gateway.log.filter(({ event }) => event === 'parked_call_displaced').map(({ fields }) => fields);
  const displaced = () => logged().length;
  return { clock, cancelled, displaced, logged, open: () => connectRaw(gateway.url) };
}

const isCancellation = ({ method }: { readonly method?: unknown }) => method === 'notifications/cancelled';

function call(id: number, tool: string, more: object = {}) {
  const capabilities = { elicitation: { form: {} } };
  return modernRequest(id, 'tools/call', { name: `up__${tool}`, arguments: {}, ...more }, { capabilities });
}

async function park(client: RawClient, id: number): Promise<string> {
  return inputRequired(await client.ask(call(id, 'ask'))).result.requestState;
}

test('one whose calls wait for it on every link makes room for another principal, with the one that has waited for longest', async () => {
  const { clock, cancelled, displaced, logged, open } = await crowd(2);
  const [many, other] = [await open(), await open()];
  const first = await park(many, 1);
  clock.advance(1);
  const second = await park(many, 2);
  expect(await other.ask(call(1, 'act'))).toMatchObject({ id: 1, result: { content: [] } });
  expect([cancelled(), displaced()]).toEqual([1, 1]);
  expect(logged()).toEqual([{ upstream: 'up', session: expect.stringMatching(/^[0-9a-f-]{36}$/), request: '1' }]);
  expect(await many.ask(call(9, 'ask', { requestState: first }))).toEqual(GONE);
  expect(inputRequired(await many.ask(call(3, 'ask', { requestState: second }))).id).toBe(3);
});

test('two who hold as much never end each other’s calls, until one of these has waited for a minute', async () => {
  const { clock, displaced, open } = await crowd(2);
  const [one, two, three] = [await open(), await open(), await open()];
  await park(one, 1);
  await park(two, 1);
  expect(await one.ask(call(2, 'act'))).toMatchObject(AT_CAPACITY);
  expect(await three.ask(call(1, 'act'))).toMatchObject(AT_CAPACITY);
  expect(displaced()).toBe(0);
  clock.advance(60_000);
  expect(await three.ask(call(2, 'act'))).toMatchObject({ id: 2, result: { content: [] } });
  expect(displaced()).toBe(1);
});

test('an idle link makes room before a call that waits, though its principal holds less', async () => {
  const { displaced, open } = await crowd(3);
  const [many, idle, other] = [await open(), await open(), await open()];
  await park(many, 1);
  await park(many, 2);
  expect(await idle.ask(call(1, 'act'))).toMatchObject({ id: 1, result: {} });
  expect(await other.ask(call(1, 'act'))).toMatchObject({ id: 1, result: {} });
  expect(displaced()).toBe(0);
});
