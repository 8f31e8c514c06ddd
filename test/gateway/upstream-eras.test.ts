import { expect, test } from 'vitest';
import { recordFile } from '../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../support/gateway.ts';
import { textAnswer, toolCall } from '../support/messages.ts';
import { modernScript } from '../support/modern-script.ts';
import { openRaw } from '../support/raw-client.ts';
import { offering, type Script, type ScriptedUpstream, scriptedUpstream } from '../support/scripted-upstream.ts';

const record = recordFile();
const calls: Script = { 'tools/call': ({ result }) => result({ content: [{ type: 'text', text: 'called' }] }) };

/** What each connection was opened with, in order. */
const openings = ({ links }: ScriptedUpstream) => links.map(({ heard }) => heard[0]?.method);

async function open(upstream: ScriptedUpstream, more: object = {}) {
  const gateway = await startGateway({ mcpServers: { up: { ...upstream.entry, ...more } } });
  await gateway.ready();
  const called = async () => {
    const client = await openRaw(gateway.url);
    expect(await client.ask(toolCall(1, 'up__act'))).toMatchObject(textAnswer(1, 'called'));
    return client;
  };
  return { gateway, called };
}

test('a handshake upstream is probed once, on a channel of its own, for all its sessions', async () => {
  const upstream = await scriptedUpstream({ ...offering('act'), ...calls });
  const { called } = await open(upstream);
  await Promise.all([called(), called(), called()]);
  expect(openings(upstream)).toEqual(['server/discover', ...Array.from({ length: 4 }, () => 'initialize')]);
});

test('a modern upstream is used on the channel it was discovered on', async () => {
  const upstream = await scriptedUpstream(modernScript({ tools: {} }, calls));
  const { called } = await open(upstream);
  await Promise.all([called(), called()]);
  expect(openings(upstream)).toEqual(['server/discover', 'server/discover', 'server/discover']);
  expect(upstream.links.flatMap(({ heard }) => heard.map(({ method }) => method))).not.toContain('initialize');
});

test('an upstream that becomes modern, and then is not any more, is served all the same', async () => {
  let script: Script = { ...offering('act'), ...calls };
  const current =
    (method: string): Script[string] =>
    (asked) => {
      const act = script[method];
      if (act === undefined) asked.error({ code: -32601, message: 'Method not found' });
      else act(asked);
    };
  const methods = ['server/discover', 'tools/list', 'tools/call'];
  const upstream = await scriptedUpstream({
    ...Object.fromEntries(methods.map((method) => [method, current(method)])),
    initialize: (asked) => (script.initialize ?? initialized)(asked),
  });
  const { called } = await open(upstream);
  await called();
  script = modernScript({ tools: {} }, calls);
  await called();
  expect(openings(upstream).slice(3)).toEqual(['initialize', 'server/discover']);
  await called();
  expect(openings(upstream).slice(5)).toEqual(['server/discover']);
  script = { ...offering('act'), ...calls };
  await called();
  expect(openings(upstream).slice(6)).toEqual(['server/discover', 'initialize']);
  await called();
  expect(openings(upstream).slice(8)).toEqual(['initialize']);
});

test('an upstream that says nothing to the probe gets its handshake after a third of its time', async () => {
  const silent: Script = { 'server/discover': () => {} };
  const upstream = await scriptedUpstream({ ...offering('act'), ...calls, ...silent });
  const { gateway, called } = await open(upstream, { startTimeout: '300ms' });
  await called();
  expect(openings(upstream)).toEqual(['server/discover', 'initialize', 'initialize']);
  expect(gateway.log.filter(({ event }) => event === 'upstream_unavailable')).toEqual([]);
});

test('a modern upstream that is not up yet in the time of a probe is tried as one again', async () => {
  const modern = modernScript({ tools: {} }, calls);
  let connections = 0;
  const upstream = await scriptedUpstream({
    ...modern,
    'server/discover': (asked) => {
      connections += 1;
      if (connections > 1) modern['server/discover']?.(asked);
    },
  });
  const { gateway, called } = await open(upstream, { startTimeout: '900ms' });
  await called();
  expect(openings(upstream)).toEqual(['server/discover', 'initialize', 'server/discover', 'server/discover']);
  expect(gateway.log.filter(({ event }) => event === 'upstream_unavailable')).toEqual([]);
});

test('an upstream that hangs up on the probe is dialled anew', async () => {
  const path = record.path;
  const gateway = await startGateway({
    mcpServers: { up: stdioUpstream('shy.mjs', [path]) },
  });
  await gateway.ready();
  const client = await openRaw(gateway.url);
  expect(await client.ask(toolCall(1, 'up__act'))).toMatchObject(textAnswer(1, 'called'));
  expect(record.lines()).toEqual(['server/discover', 'initialize', 'initialize']);
});

test('one that refuses the revision it names is unavailable, and gets no handshake', async () => {
  const data = { supported: ['2026-07-28'], requested: '2026-07-28' };
  const upstream = await scriptedUpstream({
    'server/discover': ({ error }) => error({ code: -32022, message: 'no', data }),
  });
  const gateway = await startGateway({ mcpServers: { up: upstream.entry } });
  await expect.poll(() => gateway.log.map(({ event }) => event)).toContain('upstream_unavailable');
  expect(openings(upstream)).not.toContain('initialize');
});

test.each([
  ['another revision alone', { supportedVersions: ['2027-01-01'], capabilities: {} }],
  ['no capabilities', { supportedVersions: ['2026-07-28'] }],
  ['nothing', {}],
])('one that is discovered with %s gets a handshake', async (_what, discovered) => {
  const upstream = await scriptedUpstream({
    ...offering('act'),
    ...calls,
    'server/discover': ({ result }) => result(discovered),
  });
  await (await open(upstream)).called();
  expect(openings(upstream)).toEqual(['server/discover', 'initialize', 'initialize']);
});

const initialized: NonNullable<Script[string]> = ({ result }) =>
  result({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'turncoat', version: '1' },
  });
