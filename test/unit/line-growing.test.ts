import { expect, test } from 'vitest';
import type { LinkEvents, Question } from '../../src/ports/link.ts';
import type { Channel, Dial } from '../../src/ports/transport.ts';
import { readMessage } from '../../src/protocol/envelope.ts';
import { openLink } from '../../src/upstream/link.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { recordedLog, recordedMeter } from '../support/recorded.ts';

const SMALL = 16 * 1024;
const OPENED = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '0' } };
const OPTIONS = {
  upstream: 'up',
  isolation: 'session',
  capabilities: { roots: {} },
  hearsLists: false,
  startTimeout: 1000,
  call: { idle: 1000, hard: 1000 },
  concurrency: 9,
  maxDepth: 9,
  maxBacklog: 100 * 1024,
} as const;

/** A link over a channel whose backlog is what it is said to be; `grew` counts since it was asked last. */
async function opened() {
  let told = 0;
  const pipe = { backlog: 0, say: (_text: string) => {} };
  const questions: Question[] = [];
  const dial: Dial = async (receiver) => {
    pipe.say = (text) => receiver.message(text);
    const channel: Channel = {
      send(_text, id) {
        if (id !== undefined)
          queueMicrotask(() => receiver.message(JSON.stringify({ jsonrpc: '2.0', id, result: OPENED })));
        return true;
      },
      get backlog() {
        return pipe.backlog;
      },
      pause() {},
      resume() {},
      close: () => Promise.resolve(),
    };
    return channel;
  };
  const asked = (question: Question) => {
    questions.push(question);
    return () => {};
  };
  const events: LinkEvents = { listChanged() {}, updated() {}, logged() {}, closed() {}, asked };
  const growing = () => {
    told += 1;
  };
  const deps = { dial, clock: fakeClock(), log: recordedLog(), meter: recordedMeter(), random: Math.random, growing };
  const link = await openLink(OPTIONS, { ...deps, distrust() {} }, events, {
    era: 'handshake',
    within: 1000,
    over: 'late',
    signal: undefined,
  });
  const grew = () => {
    const count = told;
    told = 0;
    return count;
  };
  return { link, pipe, questions, grew };
}

test('whatever is written to a link is told of while more waits for its upstream than is worth no thought', async () => {
  const { link, pipe, questions, grew } = await opened();
  for (const id of [1, 2]) pipe.say(`{"jsonrpc":"2.0","id":${id},"method":"roots/list"}`);
  const answer = readMessage('{"jsonrpc":"2.0","id":"g1","result":{"roots":[]}}', 9);
  const say = () => link.notify('{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}');
  const reply = () => answer.kind === 'response' && questions.shift()?.answer(answer);
  pipe.backlog = SMALL;
  say();
  reply();
  expect(grew()).toBe(0);
  pipe.backlog = SMALL + 1;
  say();
  expect(grew()).toBe(1);
  reply();
  expect(grew()).toBe(1);
  void link.ask('ping');
  expect(grew()).toBe(1);
});
