import type { Cancel, Clock } from '../ports/clock.ts';

export interface HeartbeatOptions {
  /** Milliseconds between pings; each wait is jittered down by up to a fifth so that sockets do not ping together. */
  readonly pingInterval: number;
  /** Milliseconds from when a ping has left until the peer must have shown a sign of life. */
  readonly pongTimeout: number;
}

export interface Pulse {
  /** Sends an RFC 6455 ping; `left` is called when it has left the process. */
  ping(left: () => void): void;
  /** Bytes read from the peer so far: a pong cannot pass inside a large message that is still arriving. */
  bytesRead(): number;
  lost(): void;
}

export interface Heartbeat {
  /** Any byte from the peer counts. */
  alive(): void;
  stop: Cancel;
}

/** Pings a peer for as long as it answers; calls `lost` once when it does not. */
export function startHeartbeat(options: HeartbeatOptions, clock: Clock, random: () => number, pulse: Pulse): Heartbeat {
  let stop: Cancel = () => {};
  let stopped = false;
  const wait = () => {
    stop = clock.after(options.pingInterval * (1 - random() / 5), beat);
  };
  const expect = (ms: number) => {
    const before = pulse.bytesRead();
    stop();
    stop = clock.after(ms, () => {
      if (pulse.bytesRead() > before) expect(options.pongTimeout);
      else pulse.lost();
    });
  };
  const left = () => {
    if (!stopped) expect(options.pongTimeout);
  };
  const beat = () => {
    expect(options.pingInterval + options.pongTimeout);
    pulse.ping(left);
  };
  wait();
  return {
    alive() {
      if (stopped) return;
      stop();
      wait();
    },
    stop() {
      stopped = true;
      stop();
    },
  };
}
