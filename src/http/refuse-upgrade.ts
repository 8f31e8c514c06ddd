import type { FastifyReply } from 'fastify';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import { WEBSOCKET_VERSION } from '../protocol/websocket-handshake.ts';
import { type Arrival, type AuthAuditDeps, auditDenied, logRefusal, refusalFields } from './audit-auth.ts';
import { REFUSALS, type Refused } from './refusals.ts';

export interface RefuseDeps extends AuthAuditDeps {
  readonly log: Log;
  readonly meter: Meter;
}

/** Answers an upgrade that is not to be: counted, logged with its cause, and told nothing but its word. */
export function refuseUpgrade(verdict: Refused, arrival: Arrival, reply: FastifyReply, deps: RefuseDeps): FastifyReply {
  recordRefusal(verdict, arrival, deps);
  if (verdict.refused === 'not_an_upgrade') reply.header('upgrade', 'websocket');
  // RFC 6455 section 4.4.
  if (verdict.refused === 'websocket') reply.header('sec-websocket-version', WEBSOCKET_VERSION);
  return answerRefusal(verdict, reply);
}

/** `close` is the code that tells of it where HTTP does not. */
export function recordRefusal(verdict: Refused, arrival: Arrival, deps: RefuseDeps, close?: number): void {
  const { refused, identity } = verdict;
  deps.meter.counter('connections_refused_total', { reason: refused }).add();
  auditDenied(arrival, refused, identity, deps);
  const fields = { ...refusalFields(arrival, verdict), ...(close === undefined ? {} : { close }) };
  logRefusal('upgrade_refused', fields, deps.log);
}

/** The answer of the table's row. */
export function answerRefusal({ refused, challenge, retryAfterMs }: Refused, reply: FastifyReply): FastifyReply {
  const { status, retryAfter } = REFUSALS[refused];
  if (challenge !== undefined) reply.header('www-authenticate', challenge);
  if (retryAfter !== null) {
    const seconds = retryAfterMs === undefined ? retryAfter : Math.max(1, Math.ceil(retryAfterMs / 1000));
    reply.header('retry-after', String(seconds));
  }
  return reply.code(status).send({ error: refused });
}
