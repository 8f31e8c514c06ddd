import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Audience, fanOut } from '../../src/fanout/changes.ts';
import { MemoryBus } from '../../src/fanout/memory-bus.ts';
import { recordedLog, recordedMeter } from '../support/recorded.ts';

function audience(heard: string[], told = true): Audience {
  const hear = (text: string) => {
    heard.push(text);
    return told;
  };
  return {
    listMayHaveChanged: (kind, upstream) => hear(`${kind} ${upstream}`),
    updated: (upstream, uri) => hear(`${upstream} ${uri}`),
  };
}

function broken(): Audience {
  const fail = () => {
    throw new Error('broken');
  };
  return { listMayHaveChanged: fail, updated: fail };
}

function fanned(...everyone: Audience[]) {
  const log = recordedLog();
  const meter = recordedMeter();
  const bus = new MemoryBus(log);
  const close = fanOut(bus, () => everyone, meter, log);
  return { bus, close, everyone, log, told: () => meter.read('list_changes_total', { kind: 'tools', stage: 'told' }) };
}

describe('fan-out', () => {
  it('asks everyone there is at the time, in order, and counts those who were told', async () => {
    const [first, second]: [string[], string[]] = [[], []];
    const { bus, everyone, told } = fanned(audience(first), audience([], false));
    bus.publish({ kind: 'tools', upstream: 'a' });
    bus.publish({ kind: 'updated', upstream: 'a', uri: 'x://1' });
    await turn();
    everyone.push(audience(second));
    bus.publish({ kind: 'tools', upstream: 'b' });
    await turn();
    expect(first).toEqual(['tools a', 'a x://1', 'tools b']);
    expect(second).toEqual(['tools b']);
    expect(told()).toBe(3);
  });

  it('harms nobody where one throws, and logs it', async () => {
    const heard: string[] = [];
    const { bus, log, told } = fanned(broken(), audience(heard));
    bus.publish({ kind: 'tools', upstream: 'a' });
    bus.publish({ kind: 'updated', upstream: 'a', uri: 'x://1' });
    await turn();
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
});
