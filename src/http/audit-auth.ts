import type { IncomingMessage } from 'node:http';
import type { Identity, Principal, TransportFacts } from '../auth/principal.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { AuditSink } from '../ports/sink.ts';
import type { Gate } from './gate.ts';
import type { Refused } from './refusals.ts';

/** Somebody who came and is judged. */
export interface Arrival extends TransportFacts {
  /** Names it in the log and the audit; the session's id where one is opened. */
  readonly request: string;
}

export interface AuthAuditDeps {
  readonly audit: AuditSink;
  readonly clock: Clock;
}

/** Refusals before anything was read: a flood of them is counted, and fills neither the audit nor the log. */
const COUNTED_ONLY: ReadonlySet<string> = new Set([
  'not_an_upgrade',
  'draining',
  'overloaded',
  'handshakes',
  'handshakes_per_address',
  'pending',
]);

/** Somebody who came to the main listener. */
export function arrivalOf({ id, raw }: { readonly id: string; readonly raw: IncomingMessage }, gate: Gate): Arrival {
  return { request: id, address: gate.addressOf(raw), via: 'websocket' };
}

/** What the log says of a refusal; where a token is at fault, the word for what is wrong with it, and nothing of what it says. */
export function refusalFields({ request, address }: Arrival, { refused, fault, cause }: Refused) {
  return {
    request,
    address,
    reason: refused,
    ...(fault === undefined ? {} : { cause: fault }),
    ...(cause === undefined ? {} : { err: cause }),
  };
}

/** One line for a refusal. */
export function logRefusal(
  event: string,
  fields: { readonly reason: string; readonly [name: string]: unknown },
  log: Log,
) {
  if (COUNTED_ONLY.has(fields.reason)) log.debug(event, fields);
  else log.info(event, fields);
}

export function auditAllowed(session: string, principal: Principal, { audit, clock }: AuthAuditDeps): void {
  const { issuer, id, address, via } = principal;
  const who = { issuer, id, address, via };
  audit.record({ time: clock.now(), event: 'auth', session, request: session, ...who, decision: 'allow' });
}

/** A ticket was given; who spends it is another line. */
export function auditIssued(
  { request, address, via }: Arrival,
  { issuer, id }: Identity,
  { audit, clock }: AuthAuditDeps,
) {
  const who = { issuer, id, address, via };
  audit.record({ time: clock.now(), event: 'auth', request, ...who, decision: 'allow' });
}

/** `identity` is what was verified before the refusal, and nothing that was only claimed. */
export function auditDenied(
  arrival: Arrival,
  reason: string,
  identity: Pick<Identity, 'issuer' | 'id'> | undefined,
  { audit, clock }: AuthAuditDeps,
): void {
  if (COUNTED_ONLY.has(reason)) return;
  const { request, address, via } = arrival;
  const who = identity === undefined ? {} : { issuer: identity.issuer, id: identity.id };
  audit.record({ time: clock.now(), event: 'auth', request, ...who, address, via, decision: 'deny', reason });
}
