import type { Cancel, Clock } from '../ports/clock.ts';
import { firstLook, judge, type Waiting } from './sign-of-life.ts';

export interface HeartbeatOptions {
  /** Milliseconds from one ping to the next; each wait is jittered down by up to a fifth so that sockets do not ping together. */
  readonly pingInterval: number;
  /** Milliseconds from when a ping has left until the peer must have shown a sign of life. */
  readonly pongTimeout: number;
}

export interface Pulse {
  /** Sends an RFC 6455 ping; `left` is called when it has left the process. */
  ping(left: () => void): void;
  /** Bytes read from the peer so far. */
  bytesRead(): number;
  /** Bytes for the peer that the system has not taken. */
  backlog(): number;
  /** A figure that is another one whenever the system has taken bytes for the peer. */
  taken(): number;
  /** Whether nothing is read from the peer, at our own wish. */
  paused(): boolean;
  lost(): void;
}

/** Pings a peer for as long as it shows signs of life; calls `lost` once when it does not. Costs nothing per message. */
export function startHeartbeat(options: HeartbeatOptions, clock: Clock, random: () => number, pulse: Pulse): Cancel {
  let stop: Cancel = () => {};
  const rest = (since: number) => {
    const wait = options.pingInterval * (1 - random() / 5) - (clock.elapsed() - since);
    stop = clock.after(Math.max(0, wait), () => {
      stop = beat(options.pongTimeout, clock, pulse, rest);
    });
  };
  rest(clock.elapsed());
  return () => stop();
}

/** One ping and what comes of it: `rest`, with the time it was sent, or the end. */
function beat(pongTimeout: number, clock: Clock, pulse: Pulse, rest: (sentAt: number) => void): Cancel {
  const sentAt = clock.elapsed();
  const before = pulse.bytesRead();
  let taken = pulse.taken();
  let waiting: Waiting = { since: sentAt, backlog: pulse.backlog() > 0, overdue: false };
  let stop: Cancel = () => {};
  const lookIn = (ms: number) => {
    const due = clock.elapsed() + ms;
    stop = clock.after(ms, () => look(due));
  };
  const look = (due: number) => {
    const seen = { now: clock.elapsed(), received: pulse.bytesRead() > before, taken: pulse.taken() !== taken };
    taken = pulse.taken();
    const verdict = judge(waiting, { due, ...seen, backlog: pulse.backlog() > 0, paused: pulse.paused() }, pongTimeout);
    if (verdict === 'alive') return rest(sentAt);
    if (verdict === 'lost') return pulse.lost();
    waiting = verdict.waiting;
    lookIn(verdict.nextInMs);
  };
  lookIn(firstLook(pongTimeout));
  pulse.ping(() => {
    waiting = { ...waiting, since: clock.elapsed() };
  });
  return () => stop();
}
