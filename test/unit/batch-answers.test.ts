import { expect, test } from 'vitest';
import { Batches } from '../../src/session/batch.ts';

test('an answer to what is no part of the batch being admitted leaves by itself', () => {
  const frames: string[] = [];
  const connection = { send: (frame: string) => void frames.push(frame), close() {}, pause() {}, resume() {} };
  const answerTo = (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{}}`;
  const batches = new Batches(
    connection,
    { depth: 10, outbox: 1000 },
    {
      accepts: () => true,
      // What the client answers to a question may end, at once, the call it was asked for.
      take: ({ message }) => batches.send(answerTo(message.kind === 'response' ? 1 : 2), 'answer'),
    },
  );
  const text = '[{"jsonrpc":"2.0","id":"g1","result":{}},{"jsonrpc":"2.0","id":2,"method":"ping"}]';
  batches.take({ kind: 'array', text }, 0);
  expect(frames).toEqual([answerTo(1), `[${answerTo(2)}]`]);
});
