import { MemoryBus } from '../../src/fanout/memory-bus.ts';
import { busKit } from '../kits/bus-kit.ts';

busKit('memory', { open: async (log) => new MemoryBus(log) });
