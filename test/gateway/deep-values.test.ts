import { describe, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { errorAnswer } from '../support/messages.ts';
import { inputRequired, modernRequest } from '../support/modern-messages.ts';
import { modernScript } from '../support/modern-script.ts';
import { connectRaw, openRaw } from '../support/raw-client.ts';
import { type Asked, offering, type Script, scriptedUpstream } from '../support/scripted-upstream.ts';

/** Names of this kind need the most stack to be written. */
const nested = (depth: number) => `${'{"1":'.repeat(depth)}{}${'}'.repeat(depth)}`;
const DEEP = nested(3_900);
const IMMODEST = 'Invalid params: the capabilities are too large or nested too deeply';
const EVERYTHING = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const MIB = 1024 * 1024;

async function gatewayOf(script: Script, more: object = {}) {
  const { entry } = await scriptedUpstream(script);
  const gateway = await startGateway({ mcpServers: { a: { ...entry, ...more } } });
  await gateway.ready();
  return gateway;
}

/** The text of a message with this in the place of `"HERE"`. */
const withText = (message: object, text: string) => JSON.stringify(message).replace('"HERE"', text);

describe('capabilities nobody has reason to declare', () => {
  const call = (declared: object) => modernRequest(1, 'tools/call', { name: 'a__act' }, { capabilities: declared });
  const values = [
    ['elicitation', nested(62), true],
    ['elicitation', nested(63), false],
    ['elicitation', DEEP, false],
    ['extensions', DEEP, false],
    ['experimental', `{"x":${DEEP}}`, false],
    ['sampling', `{"x":"${'x'.repeat(64 * 1024)}"}`, false],
  ] as const;

  test.each(values)('in the envelope: %s, a text of its own length', async (name, text, passes) => {
    const { url } = await gatewayOf(
      modernScript({ tools: {} }, { 'tools/call': ({ result }) => result({ resultType: 'complete', content: [] }) }),
    );
    const [client, bystander] = [await connectRaw(url), await openRaw(url)];
    client.send(withText(call({ [name]: 'HERE' }), text));
    const frame = await client.json();
    expect(frame).toEqual(
      passes ? expect.objectContaining({ id: 1, result: expect.anything() }) : errorAnswer(1, -32602, IMMODEST),
    );
    expect(await bystander.barrier()).toEqual([]);
  });

  test('in initialize, which may then be sent again', async () => {
    const { url } = await gatewayOf(offering('act'));
    const client = await connectRaw(url);
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: 'HERE' },
      clientInfo: { name: 'c', version: '1' },
    };
    client.send(withText({ jsonrpc: '2.0', id: 1, method: 'initialize', params }, DEEP));
    expect(await client.json()).toEqual(errorAnswer(1, -32602, IMMODEST));
    expect(await client.initialize()).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
  });

  test.each([
    [
      'of the modern era',
      modernScript(
        { tools: {} },
        {
          'server/discover': ({ result }) =>
            result(
              `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"experimental":{"x":${DEEP}}}}`,
            ),
        },
      ),
    ],
    [
      'of the handshake era',
      {
        initialize: ({ result }: Asked) =>
          result(
            `{"protocolVersion":"2025-11-25","serverInfo":{"name":"s","version":"1"},"capabilities":{"experimental":{"x":${DEEP}}}}`,
          ),
      },
    ],
  ])('of an upstream %s make it unavailable, and nothing else', async (_era, script) => {
    const { url, log } = await gatewayOf(script);
    expect(await (await openRaw(url)).barrier()).toEqual([]);
    expect(log.map(({ event }) => event)).toContain('upstream_unavailable');
  });
});

describe('an error of an upstream with data that nests deeply', () => {
  test('ends the call of a modern client it asks to visit a page', async () => {
    const error = `{"code":-32042,"message":"visit","data":{"elicitations":[{"mode":"url","message":"m","url":"https://a.example/","x":${DEEP}}]}}`;
    const { url } = await gatewayOf({ ...offering('act'), 'tools/call': (asked) => asked.error(error) });
    const client = await connectRaw(url);
    const frame = await client.ask(modernRequest(1, 'tools/call', { name: 'a__act' }, { capabilities: EVERYTHING }));
    expect(frame).toMatchObject({ id: 1, error: { code: -32603, data: { reason: 'too_large' } } });
  });

  test('reaches who subscribes without its data', async () => {
    const { url } = await gatewayOf({
      'resources/list': ({ result }) => result({ resources: [{ uri: 'note://one', name: 'one' }] }),
      'resources/subscribe': (asked) => asked.error(`{"code":-32099,"message":"no","data":${DEEP}}`),
    });
    const client = await openRaw(url);
    const subscribe = { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'note://one' } };
    expect(await client.ask(subscribe)).toEqual(errorAnswer(1, -32099, 'no'));
  });
});

test('questions of one call are as much as one answer can hold', async () => {
  const refusals: unknown[] = [];
  const form = (size: number) => ({ message: 'm'.repeat(size), requestedSchema: { type: 'object', properties: {} } });
  const script = {
    ...offering('act'),
    'tools/call': ({ link }: Asked) => {
      for (const [id, size] of [
        ['one', 3 * MIB],
        ['two', 2 * MIB],
      ] as const)
        link.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: form(size) });
    },
  };
  const { entry, links } = await scriptedUpstream(script);
  const { url, ready } = await startGateway({ mcpServers: { a: entry } });
  await ready();
  const client = await connectRaw(url);
  const asked = inputRequired(
    await client.ask(modernRequest(1, 'tools/call', { name: 'a__act' }, { capabilities: EVERYTHING })),
  );
  expect(Object.keys(asked.result.inputRequests)).toEqual(['g1']);
  await expect
    .poll(() => {
      refusals.splice(
        0,
        refusals.length,
        ...links.flatMap(({ heard }) => heard.filter(({ id, error }) => id === 'two' && error !== undefined)),
      );
      return refusals.length;
    })
    .toBe(1);
});

test('a vendor’s method is not answered with questions', async () => {
  const asks = { resultType: 'input_required', inputRequests: { q: { method: 'roots/list' } }, requestState: 's' };
  const { url } = await gatewayOf(modernScript({ tools: {} }, { 'acme/ask': ({ result }) => result(asks) }), {
    methods: ['acme/*'],
  });
  const client = await connectRaw(url);
  expect(await client.ask(modernRequest(1, 'acme/ask', {}, { capabilities: EVERYTHING }))).toMatchObject({
    id: 1,
    error: { code: -32603, data: { reason: 'too_large' } },
  });
});
