import type { TransportFacts } from '../auth/principal.ts';
import type { Change } from './bus.ts';

/** Where it is recorded who was let in, which calls were decided, and what became of the policy. Never blocks and never throws: what cannot be kept is counted as lost. */
export interface AuditSink {
  record(event: AuditEvent): void;
  /** Flushes what is buffered; resolves when it is written or given up. */
  close(): Promise<void>;
}

export type AuditEvent = CallEvent | AuthEvent | PolicyEvent | ChangeEvent;

export interface CallEvent {
  /** Epoch milliseconds. */
  time: number;
  event: 'call';
  session: string;
  request: string;
  issuer: string;
  id: string;
  method: string;
  upstream?: string;
  /** Original name or URI of what was asked for. */
  target?: string;
  decision: 'allow' | 'deny';
  /** Index of the deciding policy rule, `default` when none allowed. */
  rule: string;
  outcome?: string;
  durationMs?: number;
  /** Top-level keys of `arguments`, never values. */
  argumentKeys?: readonly string[];
}

/** Something about the policy that no other line tells. */
export type PolicyEvent = RuleFailed | GrantsChanged;

interface PolicyFact {
  /** Epoch milliseconds. */
  time: number;
  event: 'policy';
  session: string;
  request: string;
  issuer: string;
  id: string;
  method: string;
}

/** The `when` of a rule could not be evaluated in deciding a request; never what it read, nor why it failed. */
export interface RuleFailed extends PolicyFact {
  reason: 'rule_failed';
  /** As in the line of the call. */
  upstream?: string;
  target?: string;
  /** Index of the rule that failed. */
  rule: string;
  effect: 'allow' | 'deny';
}

/** A fresh token changed what a session may do. */
export interface GrantsChanged extends PolicyFact {
  reason: 'grants_changed';
}

/** Whether a change was published that somebody outside told the admin listener of. */
export type ChangeEvent = ChangeAllowed | ChangeDenied;

interface ChangeAsked {
  /** Epoch milliseconds. */
  time: number;
  event: 'change';
  /** What the log calls the same request. */
  request: string;
  address: string;
}

export interface ChangeAllowed extends ChangeAsked {
  decision: 'allow';
  kind: Change['kind'];
  /** Absent where it is of every upstream. */
  upstream?: string;
  /** The URI of a resource. */
  target?: string;
  /** Changes it came to, one an upstream. */
  published: number;
}

export interface ChangeDenied extends ChangeAsked {
  decision: 'deny';
  /** The word of the refusal. */
  reason: string;
}

/** Whether somebody who came was let in. */
export type AuthEvent = AuthAllowed | AuthDenied;

interface Arrived extends TransportFacts {
  /** Epoch milliseconds. */
  time: number;
  event: 'auth';
  /** What the log calls the same connection. */
  request: string;
}

export interface AuthAllowed extends Arrived {
  decision: 'allow';
  /** The one that was opened or goes on; absent where a ticket was given. */
  session?: string;
  issuer: string;
  id: string;
}

export interface AuthDenied extends Arrived {
  decision: 'deny';
  /** Who it was, where that was verified before the refusal. */
  issuer?: string;
  id?: string;
  /** The word of the refusal. */
  reason: string;
}
