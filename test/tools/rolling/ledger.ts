export const PHASES = ['before', 'during', 'after'] as const;
export type Phase = (typeof PHASES)[number];

/** How one call has ended: in its result, an error that may be tried again and one that may not, or with its socket. */
export type CallEnd =
  | { readonly kind: 'result'; readonly text: string }
  | { readonly kind: 'error'; readonly reason: string; readonly retryable: boolean }
  | { readonly kind: 'lost' };

interface Row {
  calls: number;
  results: number;
  retryable: number;
  other: number;
  /** Ended with their socket; the upstream never saw them. */
  untaken: number;
  /** Ended with their socket after the upstream had taken them: their answers are lost. */
  unanswered: number;
}

/** Every call of every client by the phase it began in, and every opening and closing of a socket. */
export class Ledger {
  phase: Phase = 'before';
  /** Moments, in milliseconds of `performance.now()`. */
  readonly closes: number[] = [];
  readonly reconnects: number[] = [];
  /** How often sockets ended with each code, and upgrades were refused with each status. */
  readonly codes = new Map<string, number>();
  readonly reasons = new Map<string, number>();
  /** What must not be, each with its kind. */
  readonly wrong: string[] = [];
  private readonly rows = new Map<Phase, Row>(PHASES.map((phase) => [phase, emptyRow()]));
  private readonly taken = new Map<string, number>();
  private last = 0;

  /** A text that no other call has. */
  next(): string {
    this.last += 1;
    return `call ${this.last}`;
  }

  /** The upstream has taken a call. None is to be taken twice: what is tried again was refused. */
  took(text: string): void {
    const times = (this.taken.get(text) ?? 0) + 1;
    this.taken.set(text, times);
    if (times > 1) this.wrong.push(`${text} was taken by the upstream ${times} times`);
  }

  /** Counts a call that begins; what is returned counts its end. */
  began(text: string): (end: CallEnd) => void {
    const row = this.row(this.phase);
    row.calls += 1;
    return (end) => {
      if (end.kind === 'result') this.result(row, text, end.text);
      else if (end.kind === 'error') this.failed(row, text, end);
      else if (this.taken.has(text)) row.unanswered += 1;
      else row.untaken += 1;
    };
  }

  row(phase: Phase): Readonly<Row> & Row {
    const row = this.rows.get(phase) ?? emptyRow();
    this.rows.set(phase, row);
    return row;
  }

  total(column: keyof Row): number {
    return PHASES.reduce((sum, phase) => sum + this.row(phase)[column], 0);
  }

  closed(code: number): void {
    this.closes.push(performance.now());
    count(this.codes, `closed ${code}`);
  }

  refused(what: string): void {
    count(this.codes, what);
  }

  private result(row: Row, text: string, said: string): void {
    row.results += 1;
    if (said !== text) this.wrong.push(`${text} was answered ${said.slice(0, 100)}`);
  }

  private failed(row: Row, text: string, { reason, retryable }: { reason: string; retryable: boolean }): void {
    count(this.reasons, reason);
    if (retryable) row.retryable += 1;
    else row.other += 1;
    if (retryable && reason === 'draining' && this.taken.has(text))
      this.wrong.push(`${text} was taken and is draining`);
  }
}

/** The most of these moments that fall into one second, and how many that is of `all`, from 0 to 1. */
export function widestSecond(
  moments: readonly number[],
  all: number,
): { readonly count: number; readonly share: number } {
  const sorted = moments.toSorted((a, b) => a - b);
  let widest = 0;
  let from = 0;
  for (const [at, moment] of sorted.entries()) {
    while ((sorted[from] ?? moment) <= moment - 1000) from += 1;
    widest = Math.max(widest, at - from + 1);
  }
  return { count: widest, share: widest / all };
}

function emptyRow(): Row {
  return { calls: 0, results: 0, retryable: 0, other: 0, untaken: 0, unanswered: 0 };
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
