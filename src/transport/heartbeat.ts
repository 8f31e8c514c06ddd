import type { Cancel, Clock } from '../ports/clock.ts';

export interface HeartbeatOptions {
  /** Milliseconds from one ping to the next; each wait is jittered down by up to a fifth so that sockets do not ping together. */
  readonly pingInterval: number;
  /** Milliseconds from when a ping has left until the peer must have shown a sign of life. */
  readonly pongTimeout: number;
}

export interface Pulse {
  /** Sends an RFC 6455 ping; `left` is called when it has left the process. */
  ping(left: () => void): void;
  /** Bytes read from the peer so far. Any byte is a sign of life: a pong cannot pass inside a large message still arriving. */
  bytesRead(): number;
  lost(): void;
}

/** Pings a peer for as long as it shows signs of life; calls `lost` once when it does not. Costs nothing per message. */
export function startHeartbeat(options: HeartbeatOptions, clock: Clock, random: () => number, pulse: Pulse): Cancel {
  let stop: Cancel = () => {};
  let stopped = false;
  const arm = (ms: number, task: () => void) => {
    stop();
    if (!stopped) stop = clock.after(ms, task);
  };
  const rest = (since: number) => {
    const wait = options.pingInterval * (1 - random() / 5) - (clock.elapsed() - since);
    arm(Math.max(0, wait), beat);
  };
  const beat = () => {
    const before = pulse.bytesRead();
    const sentAt = clock.elapsed();
    const judge = () => (pulse.bytesRead() > before ? rest(sentAt) : pulse.lost());
    arm(options.pingInterval + options.pongTimeout, judge);
    pulse.ping(() => arm(options.pongTimeout, judge));
  };
  rest(clock.elapsed());
  return () => {
    stopped = true;
    stop();
  };
}
