/** Where decided calls are recorded. Never blocks and never throws: what cannot be kept is counted as lost. */
export interface AuditSink {
  record(event: AuditEvent): void;
  /** Flushes what is buffered; resolves when it is written or given up. */
  close(): Promise<void>;
}

export interface AuditEvent {
  /** Epoch milliseconds. */
  time: number;
  event: 'auth' | 'call';
  session: string;
  request?: string;
  issuer: string;
  id: string;
  method?: string;
  upstream?: string;
  /** Original name or URI of what was asked for. */
  target?: string;
  decision: 'allow' | 'deny';
  /** Index of the deciding policy rule, `default` when none allowed. */
  rule?: string;
  outcome?: string;
  durationMs?: number;
  /** Top-level keys of `arguments`, never values. */
  argumentKeys?: readonly string[];
}
