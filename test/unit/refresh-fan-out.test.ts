import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Audience, fanOut } from '../../src/fanout/changes.ts';
import type { Updated } from '../../src/fanout/coalesced.ts';
import { MemoryBus } from '../../src/fanout/memory-bus.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { recordedLog, recordedMeter } from '../support/recorded.ts';

function audience(heard: string[], told = true, subscribed: readonly Updated[] = []): Audience {
  const hear = (text: string) => {
    heard.push(text);
    return told;
  };
  return {
    listMayHaveChanged: (kind, upstream) => hear(`${kind} ${upstream}`),
    updated: (upstream, uri) => void hear(`${upstream} ${uri}`),
    subscribed: () => subscribed,
  };
}

function broken(): Audience {
  const fail = () => {
    throw new Error('broken');
  };
  return { listMayHaveChanged: fail, updated: fail, subscribed: fail };
}

function fanned(...everyone: Audience[]) {
  const log = recordedLog();
  const meter = recordedMeter();
  const bus = new MemoryBus(log);
  const clock = fakeClock();
  const close = fanOut(bus, {
    audience: () => everyone,
    coalesceMs: 100,
    clock,
    random: () => 0.5,
    meter,
    log,
  });
  return {
    clock,
    bus,
    close,
    everyone,
    log,
    told: () => meter.read('list_changes_total', { kind: 'tools', stage: 'told' }),
  };
}

describe('fan-out', () => {
  it('asks everyone there is at the time, in order, and counts those who were told', async () => {
    const [first, second]: [string[], string[]] = [[], []];
    const { bus, clock, everyone, told } = fanned(audience(first), audience([], false));
    bus.publish({ kind: 'tools', upstream: 'a' });
    bus.publish({ kind: 'updated', upstream: 'a', uri: 'x://1' });
    await turn();
    clock.advance(100);
    everyone.push(audience(second));
    bus.publish({ kind: 'tools', upstream: 'b' });
    await turn();
    expect(first).toEqual(['tools a', 'a x://1', 'tools b']);
    expect(second).toEqual(['tools b']);
    expect(told()).toBe(3);
  });

  it('harms nobody where one throws, and logs it', async () => {
    const heard: string[] = [];
    const { bus, clock, log, told } = fanned(broken(), audience(heard));
    bus.publish({ kind: 'tools', upstream: 'a' });
    bus.publish({ kind: 'updated', upstream: 'a', uri: 'x://1' });
    await turn();
    clock.advance(100);
    expect([heard, told()]).toEqual([['tools a', 'a x://1'], 1]);
    expect(log.lines.map(({ event }) => event)).toEqual(['audience_failed', 'audience_failed']);
  });

  it('tells nobody after it was closed, not even from within', async () => {
    const heard: string[] = [];
    const { bus, close, everyone } = fanned();
    const closing = () => {
      close();
      return true;
    };
    everyone.push({ ...broken(), listMayHaveChanged: closing }, audience(heard));
    bus.publish({ kind: 'tools', upstream: 'a' });
    bus.publish({ kind: 'tools', upstream: 'b' });
    await turn();
    expect(heard).toEqual([]);
  });

  it('tells of a resource once in the coalescing time, whichever way it was heard, and of each by itself', async () => {
    const heard: string[] = [];
    const { bus, clock } = fanned(audience(heard));
    bus.publish({ kind: 'updated', upstream: 'a', uri: 'x://1' });
    bus.receive({ kind: 'updated', upstream: 'a', uri: 'x://1' });
    await turn();
    clock.advance(99);
    bus.receive({ kind: 'updated', upstream: 'a', uri: 'x://1' });
    bus.receive({ kind: 'updated', upstream: 'b', uri: 'x://1' });
    await turn();
    expect(heard).toEqual([]);
    clock.advance(1);
    expect(heard).toEqual(['a x://1', 'b x://1']);
    clock.advance(1000);
    expect(heard).toEqual(['a x://1', 'b x://1']);
    bus.receive({ kind: 'updated', upstream: 'a', uri: 'x://1' });
    await turn();
    clock.advance(100);
    expect(heard).toEqual(['a x://1', 'b x://1', 'a x://1']);
  });

  it('leaves a list that changed elsewhere to what is listed here', async () => {
    const heard: string[] = [];
    const { bus } = fanned(audience(heard));
    bus.receive({ kind: 'tools', upstream: 'a' });
    bus.publish({ kind: 'prompts', upstream: 'a' }, 'here');
    bus.publish({ kind: 'resources', upstream: 'a' }, 'elsewhere');
    await turn();
    expect(heard).toEqual(['prompts a']);
  });

  it('tells everyone of all they subscribed to, once and not at once, when changes were lost', () => {
    const heard: string[] = [];
    const subscribed = [
      { upstream: 'a', uri: 'x://1' },
      { upstream: 'b', uri: 'x://3' },
    ];
    const { bus, clock } = fanned(audience(heard, true, subscribed));
    bus.missed();
    clock.advance(900);
    bus.missed();
    expect(heard).toEqual([]);
    clock.advance(100);
    expect(heard).toEqual(['a x://1', 'b x://3']);
    clock.advance(10_000);
    expect(heard).toHaveLength(2);
  });

  it('tells nobody after it was closed of what waited or was lost', async () => {
    const heard: string[] = [];
    const { bus, clock, close } = fanned(audience(heard, true, [{ upstream: 'a', uri: 'x://1' }]));
    bus.publish({ kind: 'updated', upstream: 'a', uri: 'x://1' });
    bus.missed();
    await turn();
    close();
    clock.advance(10_000);
    expect(heard).toEqual([]);
  });
});
