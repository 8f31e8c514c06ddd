import { ErrorReply } from '@redis/client';
import { expect, test } from 'vitest';
import { Link } from '../../src/redis/link.ts';
import { fakeClock } from '../support/fake-clock.ts';

/** A link whose next command fails in this way, and how often it was lost. */
async function failing(error: Error) {
  const wire = { send: () => Promise.reject(error), onLost: () => {}, destroy: () => {} };
  let lost = 0;
  const link = new Link(wire, 'probe', fakeClock(), () => {
    lost += 1;
  });
  await expect(link.send('k', ['GET', 'k'], 1000)).rejects.toThrow(error);
  return lost;
}

test.each([
  ['READONLY You can’t write against a read only replica.'],
  ['ERR Error running script (call to f_0123): @user_script:8: -READONLY You can’t write against a read only replica.'],
])('a server that is no master any more is left: %s', async (message) => {
  expect(await failing(new ErrorReply(message))).toBe(1);
});

test('whatever else a server answers, the link is as good as before; what is no answer ends it', async () => {
  expect(await failing(new ErrorReply('OOM command not allowed'))).toBe(0);
  expect(await failing(new Error('The socket closed'))).toBe(1);
});
