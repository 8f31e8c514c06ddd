import type { Log } from '../ports/log.ts';
import type { Counter, Meter } from '../ports/meter.ts';
import type { AuditEvent, AuditSink } from '../ports/sink.ts';
import { auditLine } from './audit-line.ts';
import { fileOut, type Out, streamOut } from './audit-out.ts';

export interface AuditOptions {
  readonly sink: 'stdout' | 'off' | { readonly file: string };
  readonly arguments: 'none' | 'keys';
}

export interface AuditDeps {
  readonly meter: Meter;
  readonly log: Log;
}

/** A line waits no longer than this, in milliseconds, for others to be written with it. */
const FLUSH_MS = 100;
/** UTF-16 units that are written without waiting. */
const FLUSH_UNITS = 64 * 1024;
/** UTF-16 units that may wait, what is being written included; beyond them events are dropped. */
const MAX_UNITS = 4 * 1024 * 1024;
const RETRY_MS = 1000;
const CLOSE_MS = 1000;

/** Throws a sentence if the file cannot be opened. Open one audit per process on stdout. */
export function createAudit(options: AuditOptions, deps: AuditDeps): AuditSink {
  if (options.sink === 'off') return { record() {}, close: () => Promise.resolve() };
  const out = options.sink === 'stdout' ? streamOut(process.stdout) : fileOut(options.sink.file);
  return auditTo(out, options.arguments === 'keys', deps);
}

/** The audit over any way out. */
export function auditTo(out: Out, keys: boolean, { meter, log }: AuditDeps): AuditSink {
  return new BufferedAudit(out, keys, meter.counter('audit_dropped_total', {}), log);
}

/**
 * Lines are gathered and written one chunk at a time; the next chunk is what gathered meanwhile. A sink that is slow or
 * fails costs memory up to the bound and then events, never a caller's time.
 */
class BufferedAudit implements AuditSink {
  readonly #out: Out;
  readonly #keys: boolean;
  readonly #dropped: Counter;
  readonly #log: Log;
  #waiting = '';
  #waitingEvents = 0;
  /** What is being written, in UTF-16 units and events; the bytes are the Out's. */
  #flight = { units: 0, events: 0 };
  #flushTimer: NodeJS.Timeout | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #failing = false;
  #dropping = 0;
  /** Set by the first `close`: nothing more is taken. */
  #closed: Promise<void> | undefined;
  /** The sink is given back: what is still heard of it counts for nothing. */
  #ended = false;
  #idle: (() => void) | undefined;

  constructor(out: Out, keys: boolean, dropped: Counter, log: Log) {
    this.#out = out;
    this.#keys = keys;
    this.#dropped = dropped;
    this.#log = log;
  }

  record(event: AuditEvent): void {
    const line = auditLine(event, this.#keys);
    if (this.#closed !== undefined || this.#units() + line.length > MAX_UNITS) {
      this.#drop();
      return;
    }
    this.#waiting += line;
    this.#waitingEvents += 1;
    this.#schedule();
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    this.#flush();
    if (this.#units() > 0) await this.#drained();
    this.#ended = true;
    clearTimeout(this.#retryTimer);
    const lost = this.#waitingEvents + this.#flight.events;
    this.#dropped.add(lost);
    if (lost > 0) this.#log.warn('audit_lost_at_close', { count: lost });
    this.#out.close();
  }

  /** Resolves when nothing waits any more, or after the time a close may take. */
  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const limit = setTimeout(resolve, CLOSE_MS);
      this.#idle = () => {
        clearTimeout(limit);
        resolve();
      };
    });
  }

  #schedule(): void {
    if (this.#flight.units > 0 || this.#waiting === '') return;
    if (this.#waiting.length >= FLUSH_UNITS) this.#flush();
    else this.#flushTimer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref();
  }

  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    if (this.#flight.units > 0 || this.#waiting === '') return;
    const chunk = Buffer.from(this.#waiting);
    this.#flight = { units: this.#waiting.length, events: this.#waitingEvents };
    this.#waiting = '';
    this.#waitingEvents = 0;
    this.#write(chunk);
  }

  #write(chunk: Buffer): void {
    this.#out.write(chunk, (taken, error) => {
      if (this.#ended) return;
      const rest = chunk.subarray(taken);
      if (rest.length === 0) this.#written();
      else if (error === undefined) this.#write(rest);
      else this.#retry(rest, error);
    });
  }

  #written(): void {
    this.#flight = { units: 0, events: 0 };
    if (this.#failing) this.#log.info('audit_written_again');
    this.#failing = false;
    if (this.#dropping > 0 && this.#units() < MAX_UNITS / 2) this.#resume();
    if (this.#closed === undefined) this.#schedule();
    else if (this.#waiting !== '') this.#flush();
    else this.#idle?.();
  }

  #retry(rest: Buffer, error: Error): void {
    if (!this.#failing) this.#log.error('audit_failing', { err: error });
    this.#failing = true;
    this.#retryTimer = setTimeout(() => this.#write(rest), RETRY_MS).unref();
  }

  #drop(): void {
    this.#dropped.add();
    if (this.#dropping === 0 && this.#closed === undefined) this.#log.error('audit_dropping');
    this.#dropping += 1;
  }

  #resume(): void {
    this.#log.info('audit_dropping_ended', { count: this.#dropping });
    this.#dropping = 0;
  }

  #units(): number {
    return this.#waiting.length + this.#flight.units;
  }
}
