import type { FastifyRequest } from 'fastify';
import type { ResourceOptions } from '../auth/challenge.ts';
import { type Identity, type Principal, principalKey, principalOf } from '../auth/principal.ts';
import type { Tickets } from '../auth/ticket.ts';
import { anonymous } from './anonymous.ts';
import type { Arrival } from './audit-auth.ts';
import { type Authenticate, type Certify, noTokenRefusal, type Redeem } from './authenticate.ts';
import type { Gate } from './gate.ts';
import { type Carried, judgeUpgrade, type UpgradeFacts, type UpgradeRules } from './judge-upgrade.ts';
import type { Pending } from './pending.ts';
import type { RefusalReason, Refused } from './refusals.ts';
import type { Slots } from './slots.ts';
import { takeSlot } from './take-slot.ts';

export interface CallerOptions {
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  readonly anonymousRoles: readonly string[];
  /** Absent in anonymous mode. */
  readonly jwt?: JwtParts;
}

export interface JwtParts {
  readonly resource: ResourceOptions;
  readonly authenticate: Authenticate;
  readonly redeem: Redeem;
  readonly tickets: Tickets;
  /** Asked where an upgrade carries no token: a token decides alone. */
  readonly certify: Certify;
}

export interface CallerDeps {
  readonly slots: Slots;
  readonly pending: Pending;
  readonly gate: Gate;
  readonly draining: () => boolean;
}

/** Who comes in, under which session id; the slot is taken. */
export interface Admitted {
  readonly session: string;
  readonly principal: Principal;
}

export type CallerJudge = (request: FastifyRequest, arrival: Arrival) => Promise<Admitted | Refused>;

export function rulesOf({ hosts, origins, jwt }: CallerOptions): UpgradeRules {
  return { hosts, origins, anonymous: jwt === undefined };
}

/** What is refused whoever asks for whatever, an upgrade or a ticket, and before anything of it is judged. */
export function turnedAway(
  { raw }: FastifyRequest,
  address: string,
  { gate, pending }: CallerDeps,
): Refused | undefined {
  const refused = gate.judge(raw.socket, address);
  if (refused !== undefined) return refused;
  return pending.isFull ? { refused: 'pending' } : undefined;
}

/** What a request says before anything is verified. */
export function factsOf({ raw }: FastifyRequest): UpgradeFacts {
  const { headers, headersDistinct, url = '' } = raw;
  const query = url.includes('?') ? url.slice(url.indexOf('?')) : '';
  return { headers, headersDistinct, query };
}

/** The whole verdict on an upgrade, cheapest question first, so that nothing costly is done for one that is refused anyway. */
export function callerJudge(options: CallerOptions, deps: CallerDeps): CallerJudge {
  const rules = rulesOf(options);
  const { draining, pending, slots } = deps;
  return async (request, arrival) => {
    const unread = turnedAway(request, arrival.address, deps);
    if (unread !== undefined) return unread;
    const judged = judgeUpgrade(factsOf(request), rules);
    if ('refused' in judged) return judged;
    // What nobody would get a slot with is not spent.
    const full = 'ticket' in judged ? slots.fullFor(arrival.address) : undefined;
    if (full !== undefined) return { refused: full };
    const identified =
      options.jwt === undefined
        ? { identity: anonymous(arrival.request, options.anonymousRoles) }
        : await identify(judged, request, arrival, options.jwt, pending);
    if ('refused' in identified) return identified;
    if (draining()) return { refused: 'draining' };
    return admit(request, arrival, identified.identity, deps);
  };
}

/** By the token or ticket, or by the certificate where there is neither: a token that is refused is not made good by a certificate. */
async function identify(
  carried: Carried,
  { raw }: FastifyRequest,
  arrival: Arrival,
  { authenticate, redeem, certify, resource }: JwtParts,
  pending: Pending,
): Promise<{ identity: Identity } | Refused> {
  if ('token' in carried && carried.token === null) {
    const certified = certify(raw.socket, arrival.request);
    return 'identity' in certified ? certified : noTokenRefusal(resource);
  }
  pending.enter();
  try {
    return await ('ticket' in carried ? redeem(carried.ticket, raw.headers.origin) : authenticate(carried.token));
  } finally {
    pending.leave();
  }
}

/** The last step before 101: a slot. */
function admit(
  { raw }: FastifyRequest,
  arrival: Arrival,
  identity: Identity,
  deps: CallerDeps,
): Admitted | Refused | Promise<Admitted | Refused> {
  const verdict = (refused: RefusalReason | undefined) =>
    refused === undefined
      ? { session: arrival.request, principal: principalOf(identity, arrival) }
      : { refused, identity };
  const taken = takeSlot(raw.socket, principalKey(identity), arrival.address, deps);
  return taken instanceof Promise ? taken.then(verdict) : verdict(taken);
}
