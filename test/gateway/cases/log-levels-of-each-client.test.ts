import { describe, expect, test } from 'vitest';
import { type EraClient, openEra } from '../../support/era-client.ts';
import { startGateway } from '../../support/gateway.ts';
import { toolCall } from '../../support/messages.ts';
import { openRaw, type RawClient } from '../../support/raw-client.ts';
import { type Asked, offering, type ScriptedLink, scriptedUpstream } from '../../support/scripted-upstream.ts';

const LEVEL_KEY = 'io.modelcontextprotocol/logLevel';
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
const message = (level: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level, data: 'said' },
});
const answer = (id: number) => ({ jsonrpc: '2.0', id, result: { content: [] } });
const levelSet = { jsonrpc: '2.0', id: 'level', result: {} };
const setLevel = (level: string) => ({ jsonrpc: '2.0', id: 'level', method: 'logging/setLevel', params: { level } });

/** Whatever level it was told, it says every one on every connection it has, and then answers the call. */
async function loudUpstream(more: Readonly<Record<string, unknown>> = {}) {
  const links = new Set<ScriptedLink>();
  const call = ({ link, params, result }: Asked) => {
    links.add(link);
    if (params.name === 'log') for (const each of links) for (const level of LEVELS) each.send(message(level));
    result({ content: [] });
  };
  return scriptedUpstream({ ...offering('log', 'quiet'), 'tools/call': call }, more);
}

/** Its next frames are these levels, each once. */
async function hears(client: RawClient, levels: readonly string[]): Promise<void> {
  for (const level of levels) expect(await client.json()).toEqual(message(level));
}

describe('by the level of a handshake session', () => {
  test('each client hears what its own connection says from the level it named, and nothing of a shared one', async () => {
    const [own, all] = [await loudUpstream(), await loudUpstream({ isolation: 'shared' })];
    const { url, ready } = await startGateway({ mcpServers: { own: own.entry, all: all.entry } });
    await ready();
    const [strict, curious, silent] = [await openRaw(url), await openRaw(url), await openRaw(url)];
    expect(await strict.ask(setLevel('error'))).toEqual(levelSet);
    expect(await curious.ask(setLevel('debug'))).toEqual(levelSet);
    for (const client of [strict, curious, silent]) {
      expect(await client.ask(toolCall(1, 'own__quiet'))).toEqual(answer(1));
      expect(await client.ask(toolCall(2, 'all__quiet'))).toEqual(answer(2));
    }
    curious.send(toolCall(3, 'own__log'));
    await hears(curious, LEVELS);
    expect(await curious.json()).toEqual(answer(3));
    await hears(silent, LEVELS);
    await hears(strict, ['error', 'critical', 'alert', 'emergency']);
    expect(await silent.ask(setLevel('alert'))).toEqual(levelSet);
    silent.send(toolCall(4, 'own__log'));
    await hears(silent, ['alert', 'emergency']);
    expect(await silent.json()).toEqual(answer(4));
    await hears(curious, LEVELS);
    await hears(strict, ['error', 'critical', 'alert', 'emergency']);
    expect(await curious.ask(toolCall(5, 'all__log'))).toEqual(answer(5));
    for (const client of [strict, curious, silent]) expect(await client.barrier()).toEqual([]);
  });
});

describe('by the level of a modern request', () => {
  test('each client hears what its own connection says from the level it named, and nothing of a shared one', async () => {
    const [own, all] = [await loudUpstream(), await loudUpstream({ isolation: 'shared' })];
    const { url, ready } = await startGateway({ mcpServers: { own: own.entry, all: all.entry } });
    await ready();
    const [one, two, silent] = [
      await openEra('modern', url),
      await openEra('modern', url),
      await openEra('modern', url),
    ];
    const log = async (client: EraClient, id: number, level?: string, name = 'own__log') => {
      const meta = level === undefined ? {} : { [LEVEL_KEY]: level };
      client.raw.send(client.request(id, 'tools/call', { name }, meta));
      const heard: unknown[] = [];
      for (let next = await client.raw.json(); ; next = await client.raw.json()) {
        if ((next as { id?: number }).id === id) return { heard, answer: next };
        heard.push(next);
      }
    };
    expect(await log(silent, 1)).toEqual({ heard: [], answer: silent.result(1, { content: [] }) });
    for (const [level, from] of [
      ['error', 4],
      ['debug', 0],
      ['emergency', 7],
    ] as const) {
      const heard = LEVELS.slice(from).map(message);
      expect(await log(one, 2, level)).toEqual({ heard, answer: one.result(2, { content: [] }) });
    }
    expect((await log(one, 3)).heard).toEqual([]);
    expect((await log(two, 1, 'alert')).heard).toEqual(LEVELS.slice(6).map(message));
    expect((await log(one, 4, 'debug', 'all__log')).heard).toEqual([]);
    expect([await one.pending(), await two.pending(), await silent.pending()]).toEqual([[], [], []]);
  });
});
