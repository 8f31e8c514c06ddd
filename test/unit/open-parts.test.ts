import { expect, test } from 'vitest';
import { OpenParts } from '../../src/app/open-parts.ts';

/** Parts that write down when they begin to close and when they are closed. */
function recorded() {
  const parts = new OpenParts();
  const events: string[] = [];
  const keep = (name: string, failure?: Error) =>
    parts.keep({
      close: async () => {
        events.push(`${name} begins`);
        await Promise.resolve();
        events.push(`${name} ends`);
        if (failure !== undefined) throw failure;
      },
    });
  return { parts, events, keep };
}

test('what came last is closed first, and one after the other', async () => {
  const { parts, events, keep } = recorded();
  keep('first');
  parts.keep(undefined);
  keep('last');
  await parts.close();
  expect(events).toEqual(['last begins', 'last ends', 'first begins', 'first ends']);
});

test('a part that fails keeps none from being closed, and the first failure is told', async () => {
  const { parts, events, keep } = recorded();
  keep('first', new Error('first failed'));
  keep('second');
  parts.keep({
    close: () => {
      throw new Error('last failed');
    },
  });
  await expect(parts.close()).rejects.toThrow('last failed');
  expect(events).toEqual(['second begins', 'second ends', 'first begins', 'first ends']);
});

test('each is closed once, however often that is asked for', async () => {
  const { parts, events, keep } = recorded();
  keep('only');
  await Promise.all([parts.close(), parts.close()]);
  await parts.close();
  expect(events).toEqual(['only begins', 'only ends']);
});
