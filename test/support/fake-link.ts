import type { Link } from '../../src/ports/link.ts';
import type { Era } from '../../src/protocol/era.ts';

/** A link to a peer of this era that does nothing. */
export function linkOf(era: Era): Link {
  return {
    upstream: 'u',
    isolation: 'session',
    peer: { era, protocolVersion: '', capabilities: {}, instructions: undefined },
    inFlight: 0,
    backlog: 0,
    untaken: 0,
    mirrors: false,
    ask: () => Promise.resolve('{}'),
    relay: () => ({ cancel() {}, sentAt: 0 }),
    notify() {},
    subscribe: () => Promise.resolve(),
    unsubscribe: () => Promise.resolve(),
    setLevel: () => Promise.resolve(),
    pause() {},
    resume() {},
    close: () => Promise.resolve(),
  };
}
