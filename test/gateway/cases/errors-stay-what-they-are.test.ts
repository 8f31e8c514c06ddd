import { expect, test } from 'vitest';
import { CLIENT_ERAS, openEra } from '../../support/era-client.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { offering, type Script, scriptedUpstream } from '../../support/scripted-upstream.ts';
import { statelessTools, statelessUpstream } from '../../support/stateless-upstream.ts';

const ERROR =
  '{"code":-32063,"message":"no ü","data":{"a":1,"exact":9223372036854775807,"list":[1.0,null]},"vendor":{"b":[]}}';
const SIMPLE = [
  '{"code":1,"message":""}',
  '{"code":-32000,"message":"Connection closed"}',
  '{"code":-32603,"message":"x","data":null}',
];
const FAILED = '{"content":[{"type":"text","text":"disk full"}],"isError":true,"vendor":1.0}';

const fail: Script[string] = ({ error }) => error(ERROR);
const script: Script = {
  ...offering('error', 'failed', '0', '1', '2'),
  'prompts/list': ({ result }) => result({ prompts: [{ name: 'error' }] }),
  'resources/list': ({ result }) => result({ resources: [{ uri: 'a://b', name: 'b' }] }),
  'prompts/get': fail,
  'resources/read': fail,
  'completion/complete': fail,
  'tools/call': ({ params, result, error }) =>
    params.name === 'failed' ? result(FAILED) : error(SIMPLE[Number(params.name)] ?? ERROR),
};

test('code, message, data and all else of an error are the upstream’s, and an isError result is a result', async () => {
  const own = await scriptedUpstream(script);
  const all = await scriptedUpstream(script, { isolation: 'shared', uris: ['none://**'] });
  const modern = await statelessUpstream({ ...statelessTools('error'), 'tools/call': ({ error }) => error(ERROR) });
  const { url, ready } = await startGateway({
    mcpServers: { own: own.entry, all: all.entry, modern: modern.entry, sdk: stdioUpstream('fixture.mjs') },
  });
  await ready();
  for (const era of CLIENT_ERAS) {
    const client = await openEra(era, url);
    const text = (method: string, params: Record<string, unknown>) => {
      client.raw.send(client.request(1, method, params));
      return client.raw.next();
    };
    for (const upstream of ['own', 'all']) {
      const error = { name: `${upstream}__error` };
      for (const [method, params] of [
        ['tools/call', error],
        ['prompts/get', error],
        ['completion/complete', { ref: { type: 'ref/prompt', ...error }, argument: { name: 'x', value: '' } }],
      ] as const) {
        expect(await text(method, params)).toBe(`{"jsonrpc":"2.0","id":1,"error":${ERROR}}`);
      }
      for (const [at, expected] of SIMPLE.entries()) {
        expect(await text('tools/call', { name: `${upstream}__${at}` })).toBe(
          `{"jsonrpc":"2.0","id":1,"error":${expected}}`,
        );
      }
      const failed = await text('tools/call', { name: `${upstream}__failed` });
      expect(failed).toMatch(/"isError":true,"vendor":1\.0\}/);
      expect(JSON.parse(failed)).toEqual(client.result(1, JSON.parse(FAILED)));
    }
    expect(await text('tools/call', { name: 'modern__error' })).toBe(`{"jsonrpc":"2.0","id":1,"error":${ERROR}}`);
    expect(await text('resources/read', { uri: 'a://b' })).toBe(`{"jsonrpc":"2.0","id":1,"error":${ERROR}}`);
    expect(await client.ask(1, 'tools/call', { name: 'sdk__error' })).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32063, message: 'custom', data: { a: 1 } },
    });
  }
});
