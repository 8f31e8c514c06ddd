import { expect, onTestFinished, test } from 'vitest';
import { CLIENT_ERAS, openEra } from '../../support/era-client.ts';
import { startGateway } from '../../support/gateway.ts';
import { answerJson, answerStatus, openHttpUpstream } from '../../support/http-upstream.ts';
import { textAnswer, toolCall } from '../../support/messages.ts';
import { connectRaw } from '../../support/raw-client.ts';
import { statelessTools, statelessUpstream } from '../../support/stateless-upstream.ts';

const HANDSHAKE = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];

/** Speaks one revision, whatever it is asked for, and answers a call with the revision its request says. */
async function speaking(protocolVersion: string) {
  const asked: unknown[] = [];
  const { url, close } = await openHttpUpstream(({ method, body, headers, response }) => {
    if (method !== 'POST') return answerStatus(response, 405);
    const { id, method: request, params } = JSON.parse(body);
    if (id === undefined) return answerStatus(response, 202);
    const results = new Map<string, () => object>([
      [
        'initialize',
        () => {
          asked.push(params.protocolVersion);
          return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'one', version: '1' } };
        },
      ],
      ['tools/list', () => ({ tools: [{ name: 'spoken', inputSchema: { type: 'object' } }] })],
      ['tools/call', () => ({ content: [{ type: 'text', text: String(headers['mcp-protocol-version']) }] })],
    ]);
    const result = results.get(request)?.();
    const outcome = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
    answerJson(response, JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
  });
  onTestFinished(close);
  return { asked, url };
}

test('a client gets the revision it asks for, and each upstream is spoken to in its own', async () => {
  const upstreams = new Map<string, Awaited<ReturnType<typeof speaking>>>();
  for (const revision of HANDSHAKE) upstreams.set(revision, await speaking(revision));
  const newest = await statelessUpstream({
    ...statelessTools('spoken'),
    'tools/call': ({ exchange, params, result }) => {
      const said = [
        exchange.headers['mcp-protocol-version'],
        params._meta?.['io.modelcontextprotocol/protocolVersion'],
      ];
      result(textAnswer(1, said.join(' ')).result);
    },
  });
  const key = (revision: string) => `v${revision}`;
  const entries = [...upstreams].map(([revision, { url }]) => [key(revision), { url }]);
  const { url, ready } = await startGateway({ mcpServers: { newest: newest.entry, ...Object.fromEntries(entries) } });
  await ready();
  for (const revision of HANDSHAKE) {
    const client = await connectRaw(url);
    expect(await client.initialize(revision)).toMatchObject({ id: 'init', result: { protocolVersion: revision } });
    for (const spoken of HANDSHAKE) {
      expect(await client.ask(toolCall(1, `${key(spoken)}__spoken`))).toEqual(textAnswer(1, spoken));
    }
  }
  for (const era of CLIENT_ERAS) {
    const client = await openEra(era, url);
    expect(await client.ask(1, 'tools/call', { name: 'newest__spoken' })).toMatchObject(
      textAnswer(1, '2026-07-28 2026-07-28'),
    );
  }
  const modern = await openEra('modern', url);
  for (const spoken of HANDSHAKE) {
    expect(await modern.ask(1, 'tools/call', { name: `${key(spoken)}__spoken` })).toEqual(
      modern.result(1, textAnswer(1, spoken).result),
    );
  }
  for (const unknown of ['1999-01-01', '2025-11-24', '2026-07-28', '']) {
    const client = await connectRaw(url);
    expect(await client.initialize(unknown)).toMatchObject({ id: 'init', result: { protocolVersion: '2025-11-25' } });
  }
  for (const { asked } of upstreams.values()) expect(new Set(asked)).toEqual(new Set(['2025-11-25']));
});
