import type { Server } from 'node:net';
import type { Meter } from '../ports/meter.ts';

/**
 * Cuts what connects while `max` sockets are open, unread: those of sessions, those on their way to be one, and some that are
 * being told that they are not. What waits without a word, or asks for something else, takes no more than that.
 */
export function limitSockets(server: Server, max: number, meter: Meter): void {
  server.maxConnections = max;
  server.on('drop', () => meter.counter('connections_refused_total', { reason: 'sockets' }).add());
}
