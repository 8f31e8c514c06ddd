/** Milliseconds: from one ping to the next, and from a ping's leaving until the next sign of life must have come. */
export interface Heartbeat {
  readonly pingInterval: number;
  readonly pongTimeout: number;
}

export interface Pulse {
  /** Sends an RFC 6455 ping; `left` is called when it has left the process. */
  ping(left: () => void): void;
  /** Bytes read so far: any byte is a sign of life, since a pong cannot pass inside a large message. */
  bytesRead(): number;
  /** While nothing is read, silence says nothing. */
  paused(): boolean;
  lost(): void;
}

/** The longest a timer of JavaScript waits, in milliseconds; a longer one does not wait at all (HTML, timer initialization steps). */
const LONGEST_MS = 2 ** 31 - 1;

/** Pings the peer while it shows signs of life and calls `lost` once when it does not. Keeps no process alive. */
export function startHeartbeat({ pingInterval, pongTimeout }: Heartbeat, pulse: Pulse): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const arm = (ms: number, task: () => void) => {
    clearTimeout(timer);
    if (stopped) return;
    timer = setTimeout(task, Math.min(ms, LONGEST_MS));
    timer.unref();
  };
  const rest = (since: number) =>
    arm(Math.max(0, pingInterval * (1 - Math.random() / 5) - (performance.now() - since)), beat);
  const beat = () => {
    const before = pulse.bytesRead();
    const sentAt = performance.now();
    const judge = () => (pulse.paused() || pulse.bytesRead() > before ? rest(sentAt) : pulse.lost());
    // A ping that cannot leave, because the peer does not read, must not hold the judgement up for ever.
    arm(pingInterval + pongTimeout, judge);
    pulse.ping(() => arm(pongTimeout, judge));
  };
  rest(performance.now());
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
