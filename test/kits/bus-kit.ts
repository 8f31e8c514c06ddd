import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Bus, Change } from '../../src/ports/bus.ts';
import type { Log } from '../../src/ports/log.ts';
import { recordedLog } from '../support/recorded.ts';

/** How a bus is opened. */
export interface BusUnderTest {
  open(log: Log): Promise<Bus>;
}

function change(number: number): Change {
  return { kind: 'updated', upstream: 'a', uri: `x://${number}` };
}

/** Subscribes and keeps what was heard; `until(change)` waits for it. */
function listen(bus: Bus) {
  const heard: Change[] = [];
  const unsubscribe = bus.subscribe((each) => void heard.push(each));
  const until = (last: Change) => expect.poll(() => heard).toContainEqual(last);
  return { heard, unsubscribe, until };
}

/** What every bus does. */
export function busKit(name: string, { open }: BusUnderTest): void {
  describe(`bus: ${name}`, () => {
    const log = recordedLog();
    let bus: Bus;
    beforeEach(async () => {
      bus = await open(log);
    });
    afterEach(() => bus.close());

    it('brings every change to every listener once, in the order of publishing, also to the publisher', async () => {
      const listeners = [listen(bus), listen(bus)];
      const changes = Array.from({ length: 100 }, (_, at) => change(at));
      for (const each of changes) bus.publish(each);
      for (const { until } of listeners) await until(change(99));
      expect(listeners.map(({ heard }) => heard)).toEqual([changes, changes]);
    });

    it('carries each kind of change whole', async () => {
      const { heard, until } = listen(bus);
      const changes: Change[] = [
        { kind: 'tools', upstream: 'a' },
        { kind: 'resources', upstream: 'b' },
        { kind: 'prompts', upstream: 'c' },
        { kind: 'updated', upstream: 'd', uri: 'x://\u2028"\ud83d\ude00' },
      ];
      for (const each of changes) bus.publish(each);
      await until(changes[3] ?? change(0));
      expect(heard).toEqual(changes);
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

    it('delivers nothing after it was closed, and drops what is published then', async () => {
      const other = await open(log);
      const [closed, living] = [listen(bus), listen(other)];
      bus.publish(change(1));
      await bus.close();
      await bus.close();
      bus.publish(change(2));
      bus.subscribe((each) => void closed.heard.push(each));
      other.publish(change(3));
      await living.until(change(3));
      await other.close();
      expect(closed.heard).toEqual([]);
      expect(living.heard).not.toContainEqual(change(2));
    });
  });
}
