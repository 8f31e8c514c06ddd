import { MemoryBus } from '../../src/fanout/memory-bus.ts';
import type { Bus } from '../../src/ports/bus.ts';
import { busKit } from '../kits/bus-kit.ts';

const opened = new Map<Bus, MemoryBus>();

busKit('memory', {
  open: async (log, replicas) =>
    Array.from({ length: replicas }, () => {
      const bus = new MemoryBus(log);
      opened.set(bus, bus);
      return bus;
    }),
  lose: async (bus) => opened.get(bus)?.missed(),
  hasReplicas: false,
});
