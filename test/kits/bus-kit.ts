import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Bus, Change, Origin } from '../../src/ports/bus.ts';
import type { Log } from '../../src/ports/log.ts';
import { recordedLog } from '../support/recorded.ts';

/** How buses are opened. */
export interface BusUnderTest {
  /** So many replicas, each of which hears the others. They are closed by whoever has them opened. */
  open(log: Log, replicas: number): Promise<readonly Bus[]>;
  /** Loses what others publish, without any of it being heard. */
  lose(bus: Bus): Promise<void>;
  /** There may be more than one. */
  readonly hasReplicas: boolean;
}

function change(number: number): Change {
  return { kind: 'updated', upstream: 'a', uri: `x://${number}` };
}

const changes = (count: number) => Array.from({ length: count }, (_, at) => change(at));

/** Subscribes and keeps what was heard; `until(change)` waits for it. */
function listen(bus: Bus) {
  const heard: Change[] = [];
  const origins: Origin[] = [];
  const unsubscribe = bus.subscribe((each, origin) => {
    heard.push(each);
    origins.push(origin);
  });
  const until = (last: Change) => expect.poll(() => heard).toContainEqual(last);
  return { heard, origins, unsubscribe, until };
}

/** What every bus does. */
export function busKit(name: string, tested: BusUnderTest): void {
  describe(`bus: ${name}`, () => {
    const log = recordedLog();
    const opened: Bus[] = [];
    const open = async (count: number) => {
      const buses = await tested.open(log, count);
      opened.push(...buses);
      return buses;
    };
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((each) => each.close()));
    });

    describe('one replica', () => replicaTests(tested, log, open));
    if (tested.hasReplicas) describe('two replicas', () => replicasTests(open));
  });
}

type Open = (count: number) => Promise<readonly Bus[]>;

async function openOne(open: Open): Promise<Bus> {
  const [bus] = await open(1);
  if (bus === undefined) throw new Error('no bus');
  return bus;
}

function replicaTests(tested: BusUnderTest, log: ReturnType<typeof recordedLog>, open: Open): void {
  let bus: Bus;
  beforeEach(async () => {
    bus = await openOne(open);
  });

  it('is up', () => {
    expect(bus.isUp).toBe(true);
  });

  it('brings every change to every listener once, in the order of publishing, also to the publisher', async () => {
    const listeners = [listen(bus), listen(bus)];
    for (const each of changes(100)) bus.publish(each);
    for (const { until } of listeners) await until(change(99));
    expect(listeners.map(({ heard }) => heard)).toEqual([changes(100), changes(100)]);
    expect(new Set(listeners[0]?.origins)).toEqual(new Set(['here']));
  });

  it('brings what is for here to listeners here, what is for elsewhere to none of them', async () => {
    const { heard, until } = listen(bus);
    bus.publish(change(1), 'elsewhere');
    bus.publish(change(2), 'here');
    bus.publish(change(3), 'everywhere');
    await until(change(3));
    expect(heard).toEqual([change(2), change(3)]);
  });

  it('carries each kind of change whole', async () => {
    const { heard, until } = listen(bus);
    for (const each of KINDS) bus.publish(each);
    await until(LAST_KIND);
    expect(heard).toEqual(KINDS);
  });

  it('returns to the publisher before anyone hears', async () => {
    const { heard, until } = listen(bus);
    bus.publish(change(1));
    expect(heard).toEqual([]);
    await until(change(1));
  });

  it('harms no listener where another throws, and logs it', async () => {
    const before = log.lines.length;
    bus.subscribe(() => {
      throw new Error('broken');
    });
    const { heard, until } = listen(bus);
    bus.publish(change(1));
    bus.publish(change(2));
    await until(change(2));
    expect(heard).toEqual([change(1), change(2)]);
    expect(log.lines.slice(before).map(({ event }) => event)).toEqual(['bus_listener_failed', 'bus_listener_failed']);
  });

  it('delivers what a listener publishes, after what was published before', async () => {
    bus.subscribe((each) => {
      if (each.kind === 'tools') bus.publish(change(9));
    });
    const { heard, until } = listen(bus);
    bus.publish({ kind: 'tools', upstream: 'a' });
    bus.publish(change(1));
    await until(change(9));
    expect(heard).toEqual([{ kind: 'tools', upstream: 'a' }, change(1), change(9)]);
  });

  it('delivers nothing to one who unsubscribed, also not what was under way', async () => {
    const [leaving, staying] = [listen(bus), listen(bus)];
    bus.publish(change(1));
    leaving.unsubscribe();
    leaving.unsubscribe();
    await staying.until(change(1));
    expect(leaving.heard).toEqual([]);
  });

  it('delivers nothing to one whom an earlier listener of the same change unsubscribed', async () => {
    const later: (() => void)[] = [];
    bus.subscribe(() => {
      for (const unsubscribe of later) unsubscribe();
    });
    const leaving = listen(bus);
    later.push(leaving.unsubscribe);
    const staying = listen(bus);
    bus.publish(change(1));
    await staying.until(change(1));
    expect(leaving.heard).toEqual([]);
  });

  it('tells every listener that changes were lost, whatever another does, and none that has left', async () => {
    const before = log.lines.length;
    const told: string[] = [];
    bus.onMissed(() => {
      throw new Error('broken');
    });
    const leave = bus.onMissed(() => void told.push('left'));
    bus.onMissed(() => void told.push('stays'));
    leave();
    await tested.lose(bus);
    await expect.poll(() => told, { timeout: 10_000 }).toEqual(['stays']);
    expect(log.lines.slice(before).map(({ event }) => event)).toContain('bus_listener_failed');
  });

  it('delivers nothing after it was closed, and drops what is published then', async () => {
    const other = await openOne(open);
    const [closed, living] = [listen(bus), listen(other)];
    bus.publish(change(1));
    await bus.close();
    await bus.close();
    bus.publish(change(2));
    bus.subscribe((each) => void closed.heard.push(each));
    other.publish(change(3));
    await living.until(change(3));
    expect(closed.heard).toEqual([]);
    expect(living.heard).not.toContainEqual(change(2));
  });
}

const LAST_KIND: Change = { kind: 'updated', upstream: 'd', uri: 'x://\u2028"\ud83d\ude00 \ud800' };
const KINDS: readonly Change[] = [
  { kind: 'tools', upstream: 'a' },
  { kind: 'resources', upstream: 'b' },
  { kind: 'prompts', upstream: 'c' },
  LAST_KIND,
];

function replicasTests(open: Open): void {
  let here: Bus;
  let there: Bus;
  beforeEach(async () => {
    const [first, second] = await open(2);
    if (first === undefined || second === undefined) throw new Error('no replicas');
    here = first;
    there = second;
  });

  it('bring what is for everywhere to both, each once, in the order of publishing, and say whence it comes', async () => {
    const [own, others] = [listen(here), listen(there)];
    for (const each of changes(300)) here.publish(each);
    await own.until(change(299));
    await others.until(change(299));
    expect([own.heard, others.heard]).toEqual([changes(300), changes(300)]);
    expect([...new Set(own.origins)]).toEqual(['here']);
    expect([...new Set(others.origins)]).toEqual(['elsewhere']);
  });

  it('bring what is for here to no other, and what is for elsewhere to all others', async () => {
    const [own, others] = [listen(here), listen(there)];
    here.publish(change(1), 'here');
    here.publish(change(2), 'elsewhere');
    here.publish(change(3));
    await own.until(change(3));
    await others.until(change(3));
    expect(own.heard).toEqual([change(1), change(3)]);
    expect(others.heard).toEqual([change(2), change(3)]);
  });

  it('hear each other at the same time, each keeping its order', async () => {
    const [own, others] = [listen(here), listen(there)];
    for (const [at, each] of changes(100).entries()) {
      here.publish(each, 'elsewhere');
      there.publish(change(1000 + at), 'elsewhere');
    }
    await own.until(change(1099));
    await others.until(change(99));
    expect(own.heard).toEqual(changes(100).map((_, at) => change(1000 + at)));
    expect(others.heard).toEqual(changes(100));
  });

  it('carry each kind of change whole', async () => {
    const others = listen(there);
    for (const each of KINDS) here.publish(each);
    await others.until(LAST_KIND);
    expect(others.heard).toEqual(KINDS);
  });

  it('harm nobody where one is closed: it hears nothing, the other goes on', async () => {
    const [own, others] = [listen(here), listen(there)];
    await there.close();
    here.publish(change(1));
    await own.until(change(1));
    expect(others.heard).toEqual([]);
  });

  it('miss nothing while nothing is lost', async () => {
    let missed = 0;
    there.onMissed(() => {
      missed += 1;
    });
    const others = listen(there);
    here.publish(change(1));
    await others.until(change(1));
    here.publish(change(2));
    await others.until(change(2));
    expect(missed).toBe(0);
  });
}
