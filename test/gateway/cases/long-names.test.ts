import { expect, test } from 'vitest';
import { CLIENT_ERAS, openEra } from '../../support/era-client.ts';
import { startGateway } from '../../support/gateway.ts';
import { type Asked, type Script, scriptedUpstream } from '../../support/scripted-upstream.ts';

const key = 'an-upstream-name-of-24-c';
const long = 'a-tool-name-of-exactly-forty-characters-';
/** In the order of their public names, which end in the beginning of SHA-256 over key, NUL and original. */
const originals = [`${long}2`, `${long}1`, 'short'];
const shown = [
  'an-upstream-name-of-24-c__a-tool-name-of-exactly-forty-_02eb1d4f',
  'an-upstream-name-of-24-c__a-tool-name-of-exactly-forty-_2ca72d52',
  'an-upstream-name-of-24-c__short',
];

const list = (kind: 'tools' | 'prompts', names: readonly string[]) => (asked: Asked) =>
  asked.result({ [kind]: names.map((name) => ({ name, inputSchema: { type: 'object' } })) });
const called = ({ params, result }: Asked) => result({ content: [], called: params.name });
const prompted = ({ params, result }: Asked) => result({ messages: [], prompted: params.name });
const script = (names: readonly string[]): Script => ({
  'tools/list': list('tools', names),
  'prompts/list': list('prompts', names),
  'tools/call': called,
  'prompts/get': prompted,
});

async function gatewayOver(names: readonly string[]): Promise<string> {
  const upstream = await scriptedUpstream(script(names), { isolation: 'shared' });
  const { url, ready } = await startGateway({ mcpServers: { [key]: upstream.entry } });
  await ready();
  return url;
}

test('long names are cut to 64 characters, keep apart, stay the same in every gateway and reach what they stand for', async () => {
  for (const url of [await gatewayOver(originals), await gatewayOver([...originals].reverse())]) {
    for (const era of CLIENT_ERAS) {
      const client = await openEra(era, url);
      expect(await client.ask(1, 'tools/list')).toMatchObject({ result: { tools: shown.map((name) => ({ name })) } });
      expect(await client.ask(2, 'prompts/list')).toMatchObject({
        result: { prompts: shown.map((name) => ({ name })) },
      });
      for (const [at, name] of shown.entries()) {
        expect(await client.ask(3, 'tools/call', { name })).toMatchObject({ id: 3, result: { called: originals[at] } });
        expect(await client.ask(4, 'prompts/get', { name })).toMatchObject({
          id: 4,
          result: { prompted: originals[at] },
        });
      }
    }
  }
});
