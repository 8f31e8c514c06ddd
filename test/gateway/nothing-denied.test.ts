import fc from 'fast-check';
import { expect, test } from 'vitest';
import { principalOf } from '../../src/auth/principal.ts';
import { compilePolicy, type Kind } from '../../src/policy/access.ts';
import type { PolicyRule } from '../../src/policy/rule.ts';
import { openGateway } from '../support/gateway.ts';
import { modernRequest } from '../support/modern-messages.ts';
import { connectRaw, openRaw, type RawClient } from '../support/raw-client.ts';
import { type Script, scriptedUpstream } from '../support/scripted-upstream.ts';

const KEYS = ['s', 'f'] as const;
const NAMES = ['get', 'del'] as const;
const ROLES = ['x'];

/** One thing an upstream offers; `mark` is said by nobody but its owner, and only of it. */
interface Item {
  readonly kind: Kind;
  readonly upstream: string;
  readonly name: string;
  readonly mark: string;
}

const ITEMS: readonly Item[] = KEYS.flatMap((upstream) =>
  NAMES.flatMap((name) => [
    { kind: 'tools' as const, upstream, name, mark: `mark-tool-${upstream}-${name}` },
    { kind: 'prompts' as const, upstream, name, mark: `mark-prompt-${upstream}-${name}` },
    {
      kind: 'resources' as const,
      upstream,
      name: `${upstream}://h/${name}`,
      mark: `mark-resource-${upstream}-${name}`,
    },
    {
      kind: 'resources' as const,
      upstream,
      name: `${upstream}://t/${name}/{v}`,
      mark: `mark-template-${upstream}-${name}`,
    },
  ]),
);

const of = (upstream: string, kind: string) =>
  ITEMS.filter((item) => item.upstream === upstream && item.mark.includes(kind));

/** Lists with marks, and answers with them: what it is asked names one of its own. */
function marking(upstream: string): Script {
  const said = (item: Item | undefined) => item?.mark ?? 'mark-of-nothing';
  const named = (kind: string, name: unknown) => said(of(upstream, kind).find((item) => item.name === name));
  const read = (uri: unknown) => said(ITEMS.find(({ name }) => String(uri).startsWith(name.replace('{v}', ''))));
  return {
    'tools/list': ({ result }) =>
      result({
        tools: of(upstream, 'tool').map(({ name, mark }) => ({
          name,
          description: mark,
          inputSchema: { type: 'object' },
        })),
      }),
    'prompts/list': ({ result }) =>
      result({ prompts: of(upstream, 'prompt').map(({ name, mark }) => ({ name, description: mark })) }),
    'resources/list': ({ result }) =>
      result({ resources: of(upstream, 'resource').map(({ name, mark }) => ({ uri: name, name: mark })) }),
    'resources/templates/list': ({ result }) =>
      result({
        resourceTemplates: of(upstream, 'template').map(({ name, mark }) => ({ uriTemplate: name, name: mark })),
      }),
    'tools/call': ({ params, result }) => result({ content: [{ type: 'text', text: named('tool', params.name) }] }),
    'prompts/get': ({ params, result }) =>
      result({ messages: [{ role: 'user', content: { type: 'text', text: named('prompt', params.name) } }] }),
    'resources/read': ({ params, result }) =>
      result({ contents: [{ uri: String(params.uri), text: read(params.uri) }] }),
    'resources/subscribe': ({ params, result, link }) => {
      result({});
      link.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: params.uri } });
    },
    'resources/unsubscribe': ({ result }) => result({}),
    'completion/complete': ({ params, result }) => {
      const ref = Object(params.ref);
      const mark = ref.name === undefined ? read(ref.uri) : named('prompt', ref.name);
      result({ completion: { values: [mark] } });
    },
  };
}

const globs = fc.array(fc.constantFrom('**', 's/*', '*/del', 'f/get', 's/get'), { maxLength: 2 });
const uris = fc.array(fc.constantFrom('**', 's://h/*', '*://t/**', 'f://h/get', 's://t/del/*'), { maxLength: 2 });
const targets = fc.record({ tools: globs, prompts: globs, resources: uris }, { requiredKeys: ['tools'] });
const conditions = fc.record(
  { roles: fc.constantFrom(['x'], ['y']), when: fc.constant('target.upstream == "s"') },
  { requiredKeys: [] },
);
const rule = (effect: 'allow' | 'deny'): fc.Arbitrary<PolicyRule> =>
  fc
    .tuple(conditions, targets)
    .map(([who, what]) => (effect === 'allow' ? { ...who, allow: what } : { ...who, deny: what }));
const policies = fc.array(fc.oneof({ weight: 3, arbitrary: rule('allow') }, rule('deny')), {
  minLength: 1,
  maxLength: 4,
});

/** What these rules deny this caller, of what can be asked for as well as of what is listed. */
function deniedBy(policy: readonly PolicyRule[]): readonly Item[] {
  const compiled = compilePolicy(policy, 'jwt');
  if (!compiled.ok) throw new Error(compiled.problems.join('\n'));
  const identity = { issuer: 'anonymous', id: 'a', roles: ROLES, scopes: [], claims: {}, expiresAt: null };
  const grants = compiled.policy.grants(principalOf(identity, { address: '127.0.0.1', via: 'websocket' }));
  const isDenied = (item: Item, name = item.name) =>
    grants.decide({ ...item, name, arguments: { text: '{}' } }).effect === 'deny';
  return ITEMS.filter((item) => isDenied(item) && isDenied(item, expanded(item)));
}

const expanded = ({ name }: Item) => name.replace('{v}', 'a');

/** Every request a client may make about an item, in the words of both eras. */
function requestsFor(item: Item): [method: string, params: object][] {
  const name = `${item.upstream}__${item.name}`;
  if (item.kind === 'tools') return [['tools/call', { name, arguments: {} }]];
  const argument = { name: 'v', value: '' };
  if (item.kind === 'prompts')
    return [
      ['prompts/get', { name }],
      ['completion/complete', { ref: { type: 'ref/prompt', name }, argument }],
    ];
  return [
    ['resources/read', { uri: expanded(item) }],
    ['completion/complete', { ref: { type: 'ref/resource', uri: item.name }, argument }],
  ];
}

const LISTS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];

/** Everything a client can ask, and all it is told until that is answered. */
async function askAll(client: RawClient, era: 'handshake' | 'modern'): Promise<string[]> {
  const cursor = Buffer.from('s__get').toString('base64url');
  const asked: [string, object][] = [
    ...LISTS.flatMap((list): [string, object][] => [
      [list, {}],
      [list, { cursor }],
    ]),
    ...ITEMS.flatMap(requestsFor),
  ];
  if (era === 'handshake')
    asked.push(...ITEMS.map((item): [string, object] => ['resources/subscribe', { uri: expanded(item) }]));
  else asked.push(['server/discover', {}]);
  const frames: string[] = [];
  for (const [at, [method, params]] of asked.entries()) {
    client.send(era === 'modern' ? modernRequest(at, method, params) : { jsonrpc: '2.0', id: at, method, params });
    for (let frame = ''; !answers(frame, at); frames.push(frame)) frame = await client.next();
  }
  return frames;
}

function answers(frame: string, id: number): boolean {
  const message: { id?: unknown; method?: unknown } = frame === '' ? {} : JSON.parse(frame);
  return message.id === id && message.method === undefined;
}

test('nothing denied is visible, whatever the rules, in either era, and no upstream hears of it', async () => {
  const upstreams = { s: await scriptedUpstream(marking('s')), f: await scriptedUpstream(marking('f')) };
  const property = fc.asyncProperty(policies, async (policy) => {
    const denied = deniedBy(policy);
    const before = new Set([...upstreams.s.links, ...upstreams.f.links]);
    const gateway = await openGateway({
      auth: { mode: 'anonymous', anonymousRoles: ROLES },
      limits: { requestsPerSecond: null },
      timing: { drain: { inFlight: '0s', waves: '0s' } },
      policy,
      mcpServers: { s: upstreams.s.entry, f: upstreams.f.entry },
    });
    try {
      await gateway.ready();
      const [handshake, modern] = [await openRaw(gateway.url), await connectRaw(gateway.url)];
      const told = [...(await askAll(handshake, 'handshake')), ...(await askAll(modern, 'modern'))].join('\n');
      for (const { socket } of [handshake, modern]) socket.terminate();
      expect(denied.filter(({ mark }) => told.includes(mark))).toEqual([]);
      const links = [...upstreams.s.links, ...upstreams.f.links].filter((link) => !before.has(link));
      const heard = JSON.stringify(links.flatMap((link) => link.heard));
      expect(denied.filter((item) => item.kind === 'resources' && heard.includes(expanded(item)))).toEqual([]);
    } finally {
      await gateway.close();
    }
  });
  await fc.assert(property, { numRuns: 12 });
}, 120_000);
