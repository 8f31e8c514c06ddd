import type { Channel, Dial, Receiver } from '../ports/transport.ts';

/**
 * Two channels joined inside this process: the in-memory twin of the byte transports, and the way to a `module`
 * upstream. Delivery is in order and never inside the sender's own call. What is sent before the other end dials waits.
 * Each dial works once; when either end closes, the other still gets what was sent before, then ends with a cause.
 * The queues have no bound of their own: callers bound what they send, as on a pipe.
 */
export function loopbackPair(): [Dial, Dial] {
  const a = loopbackEnd();
  const b = loopbackEnd();
  a.join(b);
  b.join(a);
  return [a.dial, b.dial];
}

interface End {
  readonly dial: Dial;
  join(peer: End): void;
  /** A message of the peer. False when this end is over. */
  take(message: string): boolean;
  /** The peer has closed: nothing follows. */
  takeEnd(): void;
}

function loopbackEnd(): End {
  const inbox: string[] = [];
  let peer: End | undefined;
  let receiver: Receiver | undefined;
  let state: 'new' | 'open' | 'peer_gone' | 'closing' | 'closed' = 'new';
  let paused = false;
  let scheduled = false;
  let over = () => {};
  const closed = new Promise<void>((resolve) => {
    over = resolve;
  });

  const schedule = () => {
    if (scheduled || receiver === undefined) return;
    scheduled = true;
    setImmediate(deliver);
  };
  const deliver = () => {
    scheduled = false;
    try {
      while (!paused && isReceiving()) {
        const message = inbox.shift();
        if (message === undefined) break;
        receiver?.message(message);
      }
    } finally {
      conclude();
    }
  };
  const conclude = () => {
    if (state === 'closing') finish();
    if (paused || !isReceiving()) return;
    if (inbox.length > 0) schedule();
    else if (state === 'peer_gone') finish(new Error('the other end closed'));
  };
  const isReceiving = () => state === 'open' || state === 'peer_gone';
  const finish = (cause?: Error) => {
    state = 'closed';
    inbox.length = 0;
    over();
    receiver?.closed(cause);
  };

  const channel: Channel = {
    send: (message) => state === 'open' && peer !== undefined && peer.take(message),
    pause() {
      paused = true;
    },
    resume() {
      paused = false;
      schedule();
    },
    close() {
      if (isReceiving()) {
        state = 'closing';
        schedule();
        peer?.takeEnd();
      }
      return closed;
    },
  };

  return {
    async dial(newReceiver, signal) {
      signal.throwIfAborted();
      if (receiver !== undefined) throw new Error('this end of the loopback is taken');
      if (state !== 'new') throw new Error('the other end closed');
      receiver = newReceiver;
      state = 'open';
      schedule();
      return channel;
    },
    join(other) {
      peer = other;
    },
    take(message) {
      if (state !== 'new' && state !== 'open') return false;
      inbox.push(message);
      schedule();
      return true;
    },
    takeEnd() {
      if (state === 'new') state = 'closed';
      if (state !== 'open') return;
      state = 'peer_gone';
      schedule();
    },
  };
}
