import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { carriedToken } from '../auth/carriage.ts';
import type { Identity } from '../auth/principal.ts';
import { TICKET_LIFE_MS } from '../auth/ticket.ts';
import { type Arrival, arrivalOf, auditDenied, auditIssued, logRefusal, refusalFields } from './audit-auth.ts';
import { noTokenRefusal } from './authenticate.ts';
import { answerPreflight, shareWithListed } from './cors.ts';
import { type CallerDeps, type CallerOptions, factsOf, type JwtParts, rulesOf, turnedAway } from './judge-caller.ts';
import { judgePlace, type UpgradeRules } from './judge-upgrade.ts';
import type { RefusalReason, Refused } from './refusals.ts';
import { answerRefusal, type RefuseDeps } from './refuse-upgrade.ts';

export type TicketDeps = CallerDeps & RefuseDeps;

/** A ticket, and whose. */
type Answer = { readonly ticket: string; readonly identity: Identity } | Refused;

/** The methods of the route; the listener lets no other through. */
export const TICKET_METHODS = ['OPTIONS', 'POST'];

export function ticketPath(path: string): string {
  return `${path === '/' ? '' : path}/tickets`;
}

/** `POST` of a Bearer token gives a ticket in its place. All is done before a body would be read, and none is. */
export function ticketRoute(
  app: FastifyInstance,
  options: CallerOptions & { readonly path: string; readonly jwt: JwtParts },
  deps: TicketDeps,
): void {
  const rules = rulesOf(options);
  const judged = async (request: FastifyRequest, { address }: Arrival): Promise<Answer> => {
    const unread = turnedAway(request, address, deps);
    if (unread !== undefined) return unread;
    const refused = judgeRequest(request, rules);
    return refused === undefined ? issue(request, options.jwt, deps) : { refused };
  };
  const post = async (request: FastifyRequest, reply: FastifyReply) => {
    shareWithListed(request, reply, rules);
    const arrival = arrivalOf(request, deps.gate);
    const answer = await judged(request, arrival);
    const isIssued = 'ticket' in answer;
    deps.meter.counter('tickets_total', { outcome: isIssued ? 'issued' : 'refused' }).add();
    if (isIssued) auditIssued(arrival, answer.identity, deps);
    if (isIssued) return reply.code(201).send({ ticket: answer.ticket, expiresIn: TICKET_LIFE_MS / 1000 });
    recordTicketRefusal(answer, arrival, deps);
    return refuseTicket(answer, reply);
  };
  const preflight = async (request: FastifyRequest, reply: FastifyReply) => {
    shareWithListed(request, reply, rules);
    const refused = judgeRequest(request, rules);
    return refused === undefined ? answerPreflight(reply) : refuseTicket({ refused }, reply);
  };
  const url = ticketPath(options.path);
  // Answered in the hook, which comes before the body is parsed.
  const handler = (_request: FastifyRequest, reply: FastifyReply) => reply;
  app.route({ method: 'POST', url, onRequest: post, handler });
  app.route({ method: 'OPTIONS', url, onRequest: preflight, handler });
}

function judgeRequest(request: FastifyRequest, rules: UpgradeRules): RefusalReason | undefined {
  return judgePlace(request.raw, rules) ?? (hasBody(request) ? 'body' : undefined);
}

function refuseTicket(verdict: Refused, reply: FastifyReply): FastifyReply {
  // What was not read must not be taken for the next request, nor be read to its end first.
  if (verdict.refused === 'body') reply.header('connection', 'close');
  return answerRefusal(verdict, reply);
}

function recordTicketRefusal(verdict: Refused, arrival: Arrival, deps: TicketDeps): void {
  auditDenied(arrival, verdict.refused, verdict.identity, deps);
  logRefusal('ticket_refused', refusalFields(arrival, verdict), deps.log);
}

async function issue(request: FastifyRequest, jwt: JwtParts, { pending }: TicketDeps): Promise<Answer> {
  const { headers, headersDistinct, query } = factsOf(request);
  const carriage = carriedToken({ authorization: headersDistinct.authorization, subprotocols: [], query });
  if ('none' in carriage) return noTokenRefusal(jwt.resource);
  if (!('token' in carriage)) return { refused: 'token_carriage' };
  pending.enter();
  try {
    const verdict = await jwt.authenticate(carriage.token);
    return 'refused' in verdict ? verdict : await issued(verdict.identity, headers.origin, jwt);
  } finally {
    pending.leave();
  }
}

async function issued(identity: Identity, origin: string | undefined, { tickets }: JwtParts): Promise<Answer> {
  try {
    const given = await tickets.issue(identity, origin);
    if ('ticket' in given) return { ...given, identity };
    return { refused: given.full === 'owner_full' ? 'tickets_per_principal' : 'tickets', identity };
  } catch (error) {
    return { refused: 'tickets', identity, ...(error instanceof Error ? { cause: error } : {}) };
  }
}

/** RFC 9112 section 6.3: a request without both has none. */
function hasBody({ raw: { headers } }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
