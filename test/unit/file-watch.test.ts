import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { standing, watchFiles } from '../../src/http/file-watch.ts';
import { fileWith } from '../support/config-fixtures.ts';
import { fakeClock } from '../support/fake-clock.ts';

/** Watches one file; `look` lets the time to the next look pass and resolves when that is over. */
async function watched() {
  const path = fileWith('cert.pem', 'first');
  const clock = fakeClock();
  let changes = 0;
  let armed = () => {};
  const after: typeof clock.after = (ms, task) => {
    const cancel = clock.after(ms, task);
    armed();
    return cancel;
  };
  const stop = watchFiles([path], await standing([path]), { ...clock, after }, () => {
    changes += 1;
  });
  const look = () =>
    new Promise<number>((resolve) => {
      // What is told of a look is told in the turn it arms the next.
      armed = () => queueMicrotask(() => resolve(changes));
      clock.advance(1000);
    });
  return { path, clock, look, stop, changes: () => changes };
}

test('files that stand as they stood are no news', async () => {
  const { look } = await watched();
  expect([await look(), await look(), await look()]).toEqual([0, 0, 0]);
});

test('a change is told once, when two looks have found the same', async () => {
  const { path, look } = await watched();
  writeFileSync(path, 'half');
  expect(await look()).toBe(0);
  writeFileSync(path, 'half and whole');
  expect(await look()).toBe(0);
  expect([await look(), await look()]).toEqual([1, 1]);
});

test.each([
  ['another file in its place, of the same size', (path: string) => renameSync(fileWith('new', 'later'), path)],
  ['no file in its place', (path: string) => rmSync(path)],
])('%s is a change', async (_what, change) => {
  const { path, look } = await watched();
  change(path);
  expect([await look(), await look(), await look()]).toEqual([0, 1, 1]);
});

test('nothing is looked at once it has stopped, also while a look is under way', async () => {
  const { path, clock, look, stop, changes } = await watched();
  writeFileSync(path, 'second time');
  expect(await look()).toBe(0);
  clock.advance(1000);
  stop();
  await standing([path]);
  clock.advance(5000);
  await standing([path]);
  expect(changes()).toBe(0);
});
