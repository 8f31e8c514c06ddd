import { expect, test } from 'vitest';
import { Batches } from '../../src/session/batch.ts';

test('an answer to what is no part of the batch being admitted leaves by itself', () => {
  const frames: string[] = [];
  const connection = {
    send: (frame: string) => void frames.push(frame),
    hold() {},
    close() {},
    pause() {},
    resume() {},
  };
  const answerTo = (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{}}`;
  const batches = new Batches(
    connection,
    { depth: 10, outbox: 1000 },
    {
      accepts: () => true,
      // What the client answers to a question may end, at once, the call it was asked for.
      take: ({ message }) => batches.send(answerTo(message.kind === 'response' ? 1 : 2), 'answer'),
      isUnderWay: () => false,
    },
  );
  const text = '[{"jsonrpc":"2.0","id":"g1","result":{}},{"jsonrpc":"2.0","id":2,"method":"ping"}]';
  batches.take({ kind: 'array', text }, 0);
  expect(frames).toEqual([answerTo(1), `[${answerTo(2)}]`]);
});

test('what is held back counts in bytes as waiting for the client, until it leaves', () => {
  const held: number[] = [];
  const sent: [string, string | undefined][] = [];
  const connection = {
    send: (frame: string, _kind: string, from?: string) => void sent.push([frame, from]),
    hold: (bytes: number) => void held.push(bytes),
    close() {},
    pause() {},
    resume() {},
  };
  const underWay = new Set<unknown>();
  const batches = new Batches(
    connection,
    { depth: 10, outbox: 200 },
    {
      accepts: () => true,
      take: ({ message }) => void (message.kind === 'request' && underWay.add(message.id)),
      isUnderWay: (id) => underWay.has(id),
    },
  );
  const call = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"x"}`;
  batches.take({ kind: 'array', text: `[${call(1)},${call(2)},${call(3)}]` }, 0);
  const answer = (id: number, result: string) => `{"jsonrpc":"2.0","id":${id},"result":"${result}"}`;
  batches.send(answer(1, 'é€'), 'answer', 'shared');
  batches.send(answer(2, '€'.repeat(60)), 'answer');
  expect(sent).toEqual([]);
  batches.send(answer(3, ''), 'answer');
  const tooLarge =
    '{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"The answer of the upstream is too large or malformed","data":{"reason":"too_large","retryable":false}}}';
  expect(sent).toEqual([[`[${answer(1, 'é€')},${tooLarge},${answer(3, '')}]`, 'shared']]);
  expect(held[0]).toBe(41);
  expect(held.reduce((sum, bytes) => sum + bytes, 0)).toBe(0);
});
