import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fileGateway } from '../support/file-gateway.ts';
import { type Calling, TALKERS, type Talker } from '../support/talkers.ts';

/*
 * One session, step by step, by every client of the official SDKs: whoever speaks the modern era gets what whoever speaks
 * the handshake era gets. Results are compared after the normaliser of test/support/era-normaliser.ts, which says what it
 * takes off and why. Beyond it the script does not look at these differences, which are how the eras do the same thing:
 *
 * - A handshake client subscribes with `resources/subscribe`, which is answered once the upstream has agreed, a modern one
 *   by a `listen` that names the URI, which is acknowledged before. So the resource is touched until somebody is told,
 *   which is once.
 * - News of lists come to a handshake client unasked, to a modern one on a `listen` of its own. How often is not compared,
 *   for changes that come together are told together: only that it was told before the list was asked for again.
 * - A question comes to a handshake client as a request, to a modern one inside an answer, to which its SDK replies by
 *   sending the call again. What the person is asked is compared.
 * - What a cancelled call rejects with is the SDK’s own affair: that it rejects, and what the server saw, is compared.
 */
const gateway = fileGateway({
  mcpServers: { talk: { module: resolve('test/support/upstreams/conversation.mjs') } },
});

const tool = (name: string) => ({ name: `talk__${name}`, inputSchema: { type: 'object' } });
const TOOLS = ['ask', 'count', 'forget', 'recorded', 'toggle', 'touch', 'wait'].map(tool);
const said = (text: string) => ({ content: [{ type: 'text', text }] });

const STEPS: Readonly<Record<string, (talker: Talker) => Promise<unknown>>> = {
  list: (talker) => talker.request('tools/list'),
  async 'call with progress'(talker) {
    const progress: object[] = [];
    const result = await call(talker, 'count', { onprogress: (step) => progress.push(step) });
    return { progress, result };
  },
  async elicit(talker) {
    const result = await call(talker, 'ask');
    return { questions: talker.heard.questions, result };
  },
  async subscribe(talker) {
    await talker.subscribe('talk://page');
    await expect.poll(() => call(talker, 'touch')).toEqual(said('told 1'));
    await expect.poll(() => talker.heard.updates.length).toBe(1);
    return talker.heard.updates;
  },
  async change(talker) {
    const there = await changed(talker);
    return { there, gone: await changed(talker) };
  },
  async cancel(talker) {
    await call(talker, 'forget');
    const giveUp = new AbortController();
    const ended = call(talker, 'wait', { signal: giveUp.signal }).then(
      () => 'answered',
      () => 'rejected',
    );
    await expect.poll(() => call(talker, 'recorded')).toEqual(said('waiting'));
    giveUp.abort();
    await expect.poll(() => call(talker, 'recorded')).toEqual(said('waiting cancelled'));
    return ended;
  },
};

function call(talker: Talker, name: string, calling: Calling = {}): Promise<object> {
  return talker.request('tools/call', { name: `talk__${name}`, arguments: {} }, calling);
}

/** Changes the list, and asks for it once told. */
async function changed(talker: Talker): Promise<unknown> {
  const before = talker.heard.changes;
  const result = await call(talker, 'toggle');
  await expect.poll(() => talker.heard.changes).toBeGreaterThan(before);
  return { result, listed: await talker.request('tools/list') };
}

const EXPECTED: readonly (readonly [step: string, result: unknown])[] = [
  ['list', { tools: TOOLS }],
  [
    'call with progress',
    {
      progress: [
        { progress: 1, total: 2, message: 'step 1' },
        { progress: 2, total: 2, message: 'step 2' },
      ],
      result: { content: [], structuredContent: { counted: 2 } },
    },
  ],
  [
    'elicit',
    {
      questions: [
        {
          mode: 'form',
          message: 'How many?',
          requestedSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
        },
      ],
      result: said('accept 7'),
    },
  ],
  ['subscribe', ['talk://page']],
  [
    'change',
    {
      there: { result: said('there'), listed: { tools: [...TOOLS.slice(0, -1), tool('visitor'), tool('wait')] } },
      gone: { result: said('gone'), listed: { tools: TOOLS } },
    },
  ],
  ['cancel', 'rejected'],
];

describe.each(Object.entries(TALKERS))('%s', (name, open) => {
  test('gets the same results, step by step', async () => {
    const talker = await open(gateway().url);
    expect(talker.modern).toBe(/auto|pinned/.test(name));
    const got: (readonly [string, unknown])[] = [];
    for (const [step, act] of Object.entries(STEPS)) {
      got.push([step, await act(talker).catch((error: Error) => `failed: ${error.message}`)]);
    }
    expect(got).toEqual(EXPECTED);
  });
});
