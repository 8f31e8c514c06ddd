import type { CallEnd } from '../trial/caller.ts';

export const FAULTS = ['child killed', 'HTTP cut', 'socket reset', 'reader stalled', 'token expired'] as const;
export type FaultName = (typeof FAULTS)[number];
/** What a call was hit by. */
export type Cause = FaultName | 'nothing';

/**
 * Errors a call may end with where something has failed. `too_large` is also said of an answer that was cut short, and
 * -32600 to what comes after a token's end.
 */
const FAIR = new Set(['upstream_closed', 'upstream_unavailable', 'at_capacity', 'too_large', '-32600']);
/** What ends a socket, and with it its calls. */
const ENDS_SOCKETS = new Set<Cause>(['socket reset', 'reader stalled', 'token expired']);

interface Open {
  cause: Cause;
}

interface Followed {
  /** Where the answer is not the call's own text but so many characters. */
  readonly size?: number;
  /** What had hit its socket before it was made. */
  readonly cause?: Cause;
}

/** Every call by its text: what hit it, and how it ended. */
export class Calls {
  readonly wrong: string[] = [];
  readonly injections = new Map<FaultName, number>();
  private readonly open = new Map<string, Open>();
  private readonly ends = new Map<Cause, Map<string, number>>();
  private last = 0;

  /** A text no other call has. */
  next(): string {
    this.last += 1;
    return `call ${this.last}`;
  }

  /** Follows one call to its end. */
  async follow(text: string, ended: Promise<CallEnd>, { size, cause = 'nothing' }: Followed = {}): Promise<CallEnd> {
    const call: Open = { cause };
    this.open.set(text, call);
    const end = await ended;
    this.open.delete(text);
    this.judge(text, call, end, size);
    return end;
  }

  cancelled(text: string): void {
    const call = this.open.get(text);
    if (call === undefined) return;
    this.open.delete(text);
    this.count(call.cause, 'cancelled');
  }

  /** A fault was injected; it counts where it hit a call that no other had hit. The end of a socket is the end of all its calls. */
  injected(fault: FaultName, texts: readonly string[]): void {
    const open = texts.flatMap((text) => this.open.get(text) ?? []);
    if (open.some(({ cause }) => cause === 'nothing'))
      this.injections.set(fault, (this.injections.get(fault) ?? 0) + 1);
    for (const call of open) if (call.cause === 'nothing' || ENDS_SOCKETS.has(fault)) call.cause = fault;
  }

  get unanswered(): readonly string[] {
    return [...this.open.keys()];
  }

  /** How many calls that this hit have ended so. */
  ended(cause: Cause): ReadonlyMap<string, number> {
    return this.ends.get(cause) ?? new Map();
  }

  private judge(text: string, { cause }: Open, end: CallEnd, size: number | undefined): void {
    const how = end.kind === 'error' ? end.reason : end.kind;
    this.count(cause, how);
    const isOwn = end.kind === 'text' && (size === undefined ? end.text === text : end.text.length === size);
    const isFair = end.kind === 'lost' ? ENDS_SOCKETS.has(cause) : end.kind === 'error' ? FAIR.has(end.reason) : isOwn;
    if (!isFair) this.wrong.push(`${text}, hit by ${cause}: ${JSON.stringify(end).slice(0, 200)}`);
  }

  private count(cause: Cause, how: string): void {
    const row = this.ends.get(cause) ?? new Map<string, number>();
    row.set(how, (row.get(how) ?? 0) + 1);
    this.ends.set(cause, row);
  }
}
