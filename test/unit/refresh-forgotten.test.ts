import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type Listing, Refresher } from '../../src/catalogue/refresh.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { catalogueOf, part } from '../support/parts.ts';

/** A refresher in time that passes by hand; a walk ends, having found one tool, when `find` is called. */
function refreshing() {
  const clock = fakeClock();
  const { catalogue, meter, log } = catalogueOf('a', 'b');
  const walks: ((listing: Listing) => void)[] = [];
  const changes: string[] = [];
  const refresher = new Refresher({
    catalogue,
    walk: () => new Promise((resolve) => walks.push(resolve)),
    changed: (upstream) => changes.push(upstream),
    coalesceMs: 100,
    relistMs: () => 600_000,
    clock,
    meter,
    log,
  });
  const find = async () => {
    walks.at(-1)?.({ part: part({ tools: ['t'] }), failed: [] });
    await turn();
  };
  return { refresher, clock, walks, changes, find };
}

it('walks an upstream that is forgotten no more, and nobody is left waiting', async () => {
  const { refresher, clock, walks } = refreshing();
  refresher.heard('a', 'tools');
  const soon = refresher.soon('a', 'tools');
  refresher.forget('a');
  expect(await soon).toBe(false);
  clock.advance(3_600_000);
  expect(walks).toHaveLength(0);
});

it('drops what a walk of it finds, and walks anew when it is heard again', async () => {
  const { refresher, clock, walks, changes, find } = refreshing();
  refresher.heard('a', 'tools');
  clock.advance(100);
  refresher.forget('a');
  refresher.heard('a', 'tools');
  await find();
  expect(changes).toEqual([]);
  clock.advance(100);
  expect(walks).toHaveLength(2);
  await find();
  expect(changes).toEqual(['a']);
});
