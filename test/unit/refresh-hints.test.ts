import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Keeper } from '../../src/catalogue/keeper.ts';
import { Readiness } from '../../src/catalogue/readiness.ts';
import type { Bus, Change, Reach } from '../../src/ports/bus.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { linkOf } from '../support/fake-link.ts';
import { catalogueOf } from '../support/parts.ts';

const COALESCE = 100;

/** A keeper of upstreams `a` and `b`, whose tools are what `tools` says at the time, in time that passes by hand. */
async function keeping() {
  const clock = fakeClock();
  const { catalogue, meter, log } = catalogueOf('a', 'b');
  const upstreams = ['a', 'b'].map((key) => ({
    key,
    required: false,
    startTimeout: 1000,
    keepListed: 1e9,
    relist: 1e9,
  }));
  const tools: string[] = ['first'];
  const published: [Change, Reach][] = [];
  const asked: string[] = [];
  const whileListing = { task: () => {} };
  const ask = async () => {
    asked.push('list');
    whileListing.task();
    return JSON.stringify({ tools: tools.map((name) => ({ name, inputSchema: {} })) });
  };
  const peer = { ...linkOf('handshake').peer, capabilities: { tools: {} } };
  const links = new Map(['a', 'b'].map((upstream) => [upstream, { ...linkOf('handshake'), peer, upstream, ask }]));
  const bus: Bus = {
    isUp: true,
    publish: (change, reach = 'everywhere') => published.push([change, reach]),
    subscribe: () => () => {},
    onMissed: () => () => {},
    close: async () => {},
  };
  const keeper = new Keeper({
    upstreams,
    coalesceMs: COALESCE,
    catalogue,
    readiness: new Readiness(upstreams, clock),
    bus,
    catalogueLink: (upstream) => links.get(upstream),
    clock,
    random: () => 0.5,
    meter,
    log,
  });
  const pass = async (ms: number) => {
    clock.advance(ms);
    for (let times = 0; times < 5; times += 1) await turn();
  };
  for (const link of links.values()) keeper.up(link);
  await pass(0);
  return { keeper, tools, published, asked, whileListing, pass };
}

it('tells nobody else of what it lists when it starts', async () => {
  const { published } = await keeping();
  expect(published).toEqual([
    [{ kind: 'tools', upstream: 'a' }, 'here'],
    [{ kind: 'tools', upstream: 'b' }, 'here'],
  ]);
});

it('tells everywhere what its own upstream says has changed', async () => {
  const { keeper, tools, published, pass } = await keeping();
  tools.push('second');
  keeper.listChanged('a', 'tools');
  await pass(COALESCE);
  expect(published.slice(2)).toEqual([[{ kind: 'tools', upstream: 'a' }, 'everywhere']]);
});

it('lists anew what another says has changed, and tells its own alone', async () => {
  const { keeper, tools, published, pass } = await keeping();
  tools.push('second');
  keeper.hinted('a', ['tools']);
  await pass(COALESCE);
  expect(published.slice(2)).toEqual([[{ kind: 'tools', upstream: 'a' }, 'here']]);
});

it('tells everywhere what both its upstream and another say', async () => {
  const { keeper, tools, published, pass } = await keeping();
  tools.push('second');
  keeper.hinted('a', ['tools']);
  keeper.listChanged('a', 'tools');
  await pass(COALESCE);
  expect(published.slice(2)).toEqual([[{ kind: 'tools', upstream: 'a' }, 'everywhere']]);
});

it('tells the others what its upstream says while it lists for a hint: that listing may have found it already', async () => {
  const { keeper, tools, published, whileListing, pass } = await keeping();
  tools.push('second');
  whileListing.task = () => keeper.listChanged('a', 'tools');
  keeper.hinted('a', ['tools']);
  await pass(COALESCE);
  expect(published.slice(2)).toEqual([[{ kind: 'tools', upstream: 'a' }, 'everywhere']]);
});

it('tells the others what its upstream says after a listing for a hint found it, once', async () => {
  const { keeper, tools, published, pass } = await keeping();
  tools.push('second');
  keeper.hinted('a', ['tools']);
  await pass(COALESCE);
  for (const kind of ['prompts', 'tools', 'tools'] as const) keeper.listChanged('a', kind);
  await pass(COALESCE);
  expect(published.slice(2)).toEqual([
    [{ kind: 'tools', upstream: 'a' }, 'here'],
    [{ kind: 'tools', upstream: 'a' }, 'elsewhere'],
  ]);
});

it('tells its own alone also where a listing for a hint had to be repeated', async () => {
  const { keeper, tools, published, whileListing, asked, pass } = await keeping();
  tools.push('second');
  whileListing.task = () => {
    whileListing.task = () => {};
    throw new Error('not now');
  };
  keeper.hinted('a', ['tools']);
  await pass(COALESCE);
  await pass(10_000);
  expect(asked).toHaveLength(2 + 2);
  expect(published.slice(2)).toEqual([[{ kind: 'tools', upstream: 'a' }, 'here']]);
});

it('is not slowed down by hints in vain', async () => {
  const { keeper, tools, published, asked, pass } = await keeping();
  for (let times = 0; times < 20; times += 1) {
    keeper.hinted('a', ['tools']);
    await pass(COALESCE);
  }
  expect(asked).toHaveLength(2 + 20);
  tools.push('second');
  keeper.hinted('a', ['tools']);
  await pass(COALESCE);
  expect(published.slice(2)).toEqual([[{ kind: 'tools', upstream: 'a' }, 'here']]);
});

it('does nothing for an upstream it does not have', async () => {
  const { keeper, asked, pass } = await keeping();
  keeper.hinted('never', ['tools']);
  await pass(10_000);
  expect(asked).toHaveLength(2);
});

it('lists everything anew, not at once, when changes of others were lost', async () => {
  const { keeper, asked, pass } = await keeping();
  keeper.missed();
  keeper.missed();
  await pass(999);
  expect(asked).toHaveLength(2);
  await pass(1 + COALESCE);
  expect(asked).toHaveLength(4);
});

it('lists nothing after it was closed', async () => {
  const { keeper, asked, pass } = await keeping();
  keeper.missed();
  keeper.close();
  keeper.hinted('a', ['tools']);
  await pass(10_000);
  expect(asked).toHaveLength(2);
});
