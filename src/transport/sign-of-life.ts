/** What is known of a peer that was pinged and has not been heard since. Times are monotonic milliseconds. */
export interface Waiting {
  /** What the peer may take is counted from here: when the ping left, or what gave it more time since. */
  readonly since: number;
  /** Whether bytes for the peer waited to be written at the last look. */
  readonly backlog: boolean;
  /** The last look was over the time and too late to judge by: what had come by then could not have been read. */
  readonly overdue: boolean;
}

/** What one look at the connection finds. */
export interface Look {
  readonly now: number;
  /** When it was to be; the event loop did nothing else for as long as it is late. */
  readonly due: number;
  /** Any byte has come since the ping. */
  readonly received: boolean;
  /** The system has taken bytes for the peer since the last look. */
  readonly taken: boolean;
  readonly backlog: boolean;
  /** Nothing is read from the peer, at our own wish. */
  readonly paused: boolean;
}

export type Verdict = 'alive' | 'lost' | { readonly waiting: Waiting; readonly nextInMs: number };

/** A look that is later than this cannot end a connection: something kept the event loop from reading. */
const PUNCTUAL_MS = 20;
/** Looks in the time a peer has, so that one who is there is not pinged late, and lag is noticed whenever it comes. */
const LOOKS = 4;

/**
 * Any byte is a sign of life: a pong cannot pass inside a large message still arriving. A backlog that shrinks is one of the peer's
 * system and gives it the whole time anew, for the pong comes behind what it still reads; bytes that never waited prove
 * nothing, the system takes them for a peer that is gone too. Time in which nothing was read does not count.
 */
export function judge(waiting: Waiting, look: Look, pongTimeout: number): Verdict {
  if (look.received) return 'alive';
  const late = Math.max(0, look.now - look.due);
  const extended = look.paused || (waiting.backlog && look.taken);
  const since = extended ? look.now : Math.min(look.now, waiting.since + late);
  const left = since + pongTimeout - look.now;
  const overdue = left <= 0;
  if (overdue && (waiting.overdue || late <= PUNCTUAL_MS)) return 'lost';
  const nextInMs = overdue ? Math.min(late, pongTimeout) : Math.min(left, firstLook(pongTimeout));
  return { waiting: { since, backlog: look.backlog, overdue }, nextInMs };
}

/** Milliseconds from a ping to the first look. */
export function firstLook(pongTimeout: number): number {
  return pongTimeout / LOOKS;
}
