import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Listing, Refresher } from '../../src/catalogue/refresh.ts';
import type { ListKind } from '../../src/ports/meter.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { catalogueOf, type Listed, part } from '../support/parts.ts';

interface Walk {
  readonly at: number;
  readonly kinds: readonly ListKind[];
  /** Ends the walk and waits until its end was taken in. */
  finds(listed: Listed, failed?: readonly ListKind[]): Promise<void>;
  fails(): Promise<void>;
}

/** A refresher of upstream `a`, in time that passes by hand; each walk ends when the test says so. */
function refreshing(relist = 600_000, coalesceMs = 100) {
  const clock = fakeClock();
  const { catalogue, meter, log } = catalogueOf('a', 'b');
  const walks: Walk[] = [];
  const changes: string[] = [];
  const walk = (_upstream: string, kinds: readonly ListKind[]) =>
    new Promise<Listing>((resolve, reject) => {
      walks.push({
        at: clock.elapsed(),
        kinds,
        finds: async (listed, failed = []) => {
          resolve({ part: part(listed), failed });
          await turn();
        },
        fails: async () => {
          reject(new Error('no link'));
          await turn();
        },
      });
    });
  const changed = (upstream: string, kinds: readonly ListKind[]) => void changes.push(`${upstream} ${kinds.join()}`);
  const options = { catalogue, walk, changed, coalesceMs, relistMs: () => relist, clock, meter, log };
  const refresher = new Refresher(options);
  const last = () => {
    const walk = walks.at(-1);
    if (walk === undefined) throw new Error('no walk yet');
    return walk;
  };
  const count = (kind: ListKind) =>
    ['heard', 'walked', 'changed'].map((stage) => meter.read('list_changes_total', { kind, stage }));
  return { refresher, clock, walks, changes, log, count, last, catalogue };
}

describe('refreshing', () => {
  it('walks once for all that is heard within the coalescing time, and reports the difference', async () => {
    const { refresher, clock, walks, changes, count, last, catalogue } = refreshing();
    refresher.heard('a', 'tools');
    clock.advance(60);
    refresher.heard('a', 'prompts');
    refresher.heard('a', 'tools');
    clock.advance(39);
    expect(walks).toHaveLength(0);
    clock.advance(1);
    expect(last()).toMatchObject({ at: 100, kinds: ['tools', 'prompts'] });
    await last().finds({ tools: ['t'] });
    expect(changes).toEqual(['a tools']);
    expect(catalogue.snapshot.items.tools).toHaveLength(1);
    expect([count('tools'), count('prompts'), count('resources')]).toEqual([
      [2, 1, 1],
      [1, 1, 0],
      [0, 0, 0],
    ]);
  });

  it('walks exactly once more for what is heard during a walk', async () => {
    const { refresher, clock, walks, last } = refreshing();
    refresher.heard('a', 'tools');
    clock.advance(100);
    for (let times = 0; times < 5; times += 1) refresher.heard('a', 'tools');
    clock.advance(1_000);
    expect(walks).toHaveLength(1);
    await last().finds({ tools: ['t'] });
    clock.advance(100);
    await last().finds({ tools: ['t', 'u'] });
    clock.advance(60_000);
    expect(walks.map(({ at }) => at)).toEqual([100, 1_200]);
  });

  it('walks at most twice for 200 notifications within 50 ms (B036)', async () => {
    const { refresher, clock, walks, changes, last } = refreshing();
    for (let heard = 0; heard < 200; heard += 1) {
      refresher.heard('a', 'tools');
      clock.advance(0.25);
    }
    clock.advance(50);
    await last().finds({ tools: ['t'] });
    clock.advance(60_000);
    expect([walks.length, changes.length]).toEqual([1, 1]);
  });

  it('waits twice as long after each walk without a difference, up to 30 s, until one finds one', async () => {
    const { refresher, clock, walks, last } = refreshing();
    const gaps: number[] = [];
    for (let walk = 0; walk < 11; walk += 1) {
      const since = clock.elapsed();
      refresher.heard('a', 'tools');
      while (walks.length === walk) clock.advance(50);
      gaps.push(last().at - since);
      await last().finds(walk === 10 ? { tools: ['t'] } : {});
    }
    expect(gaps).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
    refresher.heard('a', 'tools');
    clock.advance(100);
    expect(walks).toHaveLength(12);
  });

  it('waits longer, up to 5 s, for one that changes with every walk, until it has paused', async () => {
    const { refresher, clock, walks, last } = refreshing();
    const gaps: number[] = [];
    const walkOnce = async (walk: number) => {
      const since = clock.elapsed();
      refresher.heard('a', 'tools');
      while (walks.length === walk) clock.advance(50);
      gaps.push(last().at - since);
      await last().finds({ tools: [`t${walk}`] });
    };
    for (let walk = 0; walk < 20; walk += 1) await walkOnce(walk);
    expect(gaps).toEqual([...Array(11).fill(100), 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000]);
    clock.advance(10_050);
    for (let walk = 20; walk < 22; walk += 1) await walkOnce(walk);
    expect(gaps.slice(-2)).toEqual([100, 100]);
  });

  it('leaves one that announces changes that are none alone, also where nothing is coalesced', async () => {
    const { refresher, clock, walks, last } = refreshing(600_000, 0);
    const gaps: number[] = [];
    for (let walk = 0; walk < 4; walk += 1) {
      const since = clock.elapsed();
      refresher.heard('a', 'tools');
      while (walks.length === walk) clock.advance(10);
      gaps.push(last().at - since);
      await last().finds({});
    }
    expect(gaps).toEqual([0, 50, 100, 200]);
  });

  it('is prompt again for one who was quiet as long as it had to wait', async () => {
    const { refresher, clock, walks, last } = refreshing();
    for (let walk = 0; walk < 4; walk += 1) {
      refresher.heard('a', 'tools');
      clock.advance(5_000);
      await last().finds({});
    }
    clock.advance(5_000);
    refresher.heard('a', 'tools');
    clock.advance(100);
    expect(walks).toHaveLength(5);
  });

  it('walks everything at once for a fresh link, and says when that is done', async () => {
    const { refresher, clock, walks, last } = refreshing();
    refresher.heard('a', 'tools');
    const done = refresher.refreshNow('a');
    expect(walks).toMatchObject([{ at: 0, kinds: ['tools', 'resources', 'prompts'] }]);
    await last().finds({ tools: ['t'] });
    await done;
    clock.advance(60_000);
    expect(walks).toHaveLength(1);
  });

  it('walks again at once for a fresh link when an old walk is still under way', async () => {
    const { refresher, walks, last } = refreshing();
    const order: string[] = [];
    void refresher.refreshNow('a').then(() => order.push('first'));
    void refresher.refreshNow('a').then(() => order.push('second'));
    expect(walks).toHaveLength(1);
    await last().fails();
    expect([walks.length, order]).toEqual([2, ['first']]);
    await last().finds({ tools: ['t'] });
    expect(order).toEqual(['first', 'second']);
  });

  it('tells one who guesses when a walk has ended, the one under way or the next', async () => {
    const { refresher, clock, walks, last } = refreshing();
    const order: string[] = [];
    void refresher.soon('a', 'tools').then((answered) => order.push(`first ${answered}`));
    clock.advance(100);
    expect(last()).toMatchObject({ at: 100, kinds: ['tools'] });
    void refresher.soon('a', 'tools').then((answered) => order.push(`second ${answered}`));
    expect(walks).toHaveLength(1);
    await last().finds({ tools: ['t'] });
    expect(order).toEqual(['first true', 'second true']);
  });

  it('tells one who guesses at once where no walk is due within 2 s, and walks when it is', async () => {
    const { refresher, clock, walks, last } = refreshing();
    for (let walk = 0; walk < 5; walk += 1) {
      const ended = refresher.soon('a', 'tools');
      while (walks.length === walk) clock.advance(50);
      await last().finds({});
      expect(await ended).toBe(true);
    }
    expect(await refresher.soon('a', 'tools')).toBe(false);
    clock.advance(3_150);
    expect(walks).toHaveLength(5);
    clock.advance(50);
    expect(walks).toHaveLength(6);
    refresher.close();
    expect(await refresher.soon('a', 'tools')).toBe(false);
    expect(await refreshing(600_000, 2_001).refresher.soon('a', 'tools')).toBe(false);
  });

  it('walks again what got no answer, less and less often', async () => {
    const { refresher, clock, walks, last } = refreshing();
    void refresher.refreshNow('a');
    await last().finds({ prompts: ['p'] }, ['tools']);
    clock.advance(100);
    expect(last()).toMatchObject({ at: 100, kinds: ['tools'] });
    await last().finds({ prompts: ['p'] }, ['tools']);
    clock.advance(199);
    expect(walks).toHaveLength(2);
    clock.advance(1);
    expect(walks).toHaveLength(3);
  });

  it('leaves an upstream without a link alone until it is told otherwise', async () => {
    const { refresher, clock, walks, changes, log, last } = refreshing();
    refresher.heard('a', 'tools');
    clock.advance(100);
    await last().fails();
    clock.advance(60_000);
    expect([walks.length, changes]).toEqual([1, []]);
    expect(log.lines).toMatchObject([{ event: 'walk_failed', fields: { upstream: 'a' } }]);
  });

  it('walks after a long time without a walk, and is no slower to hear for it', async () => {
    const { refresher, clock, walks, last } = refreshing(10_000);
    void refresher.refreshNow('a');
    await last().finds({});
    for (let times = 0; times < 5; times += 1) {
      clock.advance(10_000);
      await last().finds({});
    }
    expect(walks.map(({ at }) => at)).toEqual([0, 10_000, 20_000, 30_000, 40_000, 50_000]);
    refresher.heard('a', 'tools');
    clock.advance(100);
    await last().finds({});
    clock.advance(9_999);
    expect(last().at).toBe(50_100);
    clock.advance(1);
    expect(last().at).toBe(60_100);
  });

  it('keeps upstreams apart', async () => {
    const { refresher, clock, walks } = refreshing();
    refresher.heard('a', 'tools');
    clock.advance(50);
    refresher.heard('b', 'prompts');
    clock.advance(100);
    expect(walks).toMatchObject([
      { at: 100, kinds: ['tools'] },
      { at: 150, kinds: ['prompts'] },
    ]);
  });

  it('does nothing after it was closed: no walk, no report, nobody left waiting', async () => {
    const { refresher, clock, walks, changes, last, catalogue, log } = refreshing();
    const waiting = [refresher.refreshNow('a'), refresher.refreshNow('a')];
    const found = last();
    waiting.push(refresher.refreshNow('c'));
    const failed = last();
    refresher.heard('b', 'tools');
    refresher.close();
    refresher.close();
    await Promise.all([...waiting, refresher.refreshNow('a')]);
    await found.finds({ tools: ['t'] });
    await failed.fails();
    refresher.heard('a', 'tools');
    clock.advance(3_600_000);
    expect([walks.length, changes, catalogue.snapshot.version, log.lines]).toEqual([2, [], 0, []]);
  });
});
