import { expect, onTestFinished, test } from 'vitest';
import { openEra } from '../../support/era-client.ts';
import { recordFile } from '../../support/file-gateway.ts';
import { startGateway, stdioUpstream } from '../../support/gateway.ts';
import { answerJson, answerStatus, openHttpUpstream } from '../../support/http-upstream.ts';
import { errorAnswer } from '../../support/messages.ts';
import { offering, scriptedUpstream } from '../../support/scripted-upstream.ts';

const MIB = 1024 * 1024;
const NAMES = ['hold', 'release', 'big', 'echo'];
const shared = { isolation: 'shared' };
const record = recordFile();
const content = (text: string) => ({ content: [{ type: 'text', text }] });
/** Characters of one to four bytes, so that chunks end within some. */
const odd = 'aü€😀\u2028\u0000'.repeat(40_000);
const tooLarge = (id: number) =>
  errorAnswer(id, -32603, 'The answer of the upstream is too large or malformed', {
    reason: 'too_large',
    retryable: false,
  });

interface Call {
  readonly name: string;
  readonly arguments: { readonly key?: string; readonly bytes?: number; readonly text?: string };
}

/** The tools of plain.mjs that this story needs, in this process. */
function tools() {
  const held = new Map<string, (value: object) => void>();
  return {
    held: () => [...held.keys()].map((key) => `holding ${key}`),
    act({ name, arguments: { key = '', bytes = 0, text = '' } }: Call, answer: (value: object) => void) {
      if (name === 'hold') return void held.set(key, answer);
      if (name === 'release') held.get(key)?.(content(key));
      answer(content(name === 'big' ? 'x'.repeat(bytes) : name === 'echo' ? text : 'released'));
    },
  };
}

async function overWebSocket() {
  const { held, act } = tools();
  const { entry } = await scriptedUpstream(
    { ...offering(...NAMES), 'tools/call': ({ params, result }) => act(params as Partial<Call> as Call, result) },
    shared,
  );
  return { entry, held };
}

async function overHttp() {
  const { held, act } = tools();
  const listed = NAMES.map((name) => ({ name, inputSchema: { type: 'object' } }));
  const opened = {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'http', version: '1' },
  };
  const { url, close } = await openHttpUpstream(({ method, body, response }) => {
    if (method !== 'POST') return answerStatus(response, 405);
    const { id, method: asked, params } = JSON.parse(body);
    if (id === undefined) return answerStatus(response, 202);
    const answer = (result: object) => answerJson(response, JSON.stringify({ jsonrpc: '2.0', id, result }));
    if (asked === 'tools/call') return act(params, answer);
    answer(asked === 'initialize' ? opened : { tools: listed });
  });
  onTestFinished(close);
  return { entry: { url, ...shared }, held };
}

test('9 MiB arrive, over 16 MiB fails its own call, and another caller of that upstream notices neither', async () => {
  const [ws, http] = [await overWebSocket(), await overHttp()];
  const { url, ready } = await startGateway({
    mcpServers: { stdio: stdioUpstream('plain.mjs', [record.path], shared), ws: ws.entry, http: http.entry },
  });
  await ready();
  const rounds = [
    { upstream: 'stdio', era: 'handshake', held: record.lines },
    { upstream: 'ws', era: 'modern', held: ws.held },
    { upstream: 'http', era: 'handshake', held: http.held },
  ] as const;
  for (const { upstream, era, held } of rounds) {
    const [greedy, other] = [await openEra(era, url), await openEra(era, url)];
    const call = (tool: string, given: object) => ({ name: `${upstream}__${tool}`, arguments: given });
    other.raw.send(other.request(1, 'tools/call', call('hold', { key: 'kept' })));
    await expect.poll(held).toContain('holding kept');
    const before = process.cpuUsage();
    const large = await greedy.ask(1, 'tools/call', call('big', { bytes: 9 * MIB }));
    const { user, system } = process.cpuUsage(before);
    expect(JSON.stringify(large) === JSON.stringify(greedy.result(1, content('x'.repeat(9 * MIB))))).toBe(true);
    // The gateway and the client are in this process: nobody waited longer for the event loop than this.
    expect((user + system) / 1e6).toBeLessThan(2);
    expect(await greedy.ask(2, 'tools/call', call('big', { bytes: 16 * MIB }))).toEqual(tooLarge(2));
    const echoed = await greedy.ask(3, 'tools/call', call('echo', { text: odd }));
    expect(JSON.stringify(echoed) === JSON.stringify(greedy.result(3, content(odd)))).toBe(true);
    expect(await greedy.ask(4, 'tools/call', call('release', { key: 'kept' }))).toEqual(
      greedy.result(4, content('released')),
    );
    expect(await other.raw.json()).toEqual(other.result(1, content('kept')));
    expect(await other.pending()).toEqual([]);
  }
}, 60_000);
