import type { RefusedReason } from '../ports/verifier.ts';
import {
  type Audience,
  acceptedValues,
  type ClaimPaths,
  claimAt,
  type IssuerOptions,
  type JwtOptions,
} from './jwt-options.ts';
import type { Identity } from './principal.ts';

/** What one issuer's verified claims are judged by. Times in milliseconds. */
export interface ClaimRules {
  readonly resource: string;
  readonly clockTolerance: number;
  readonly maxTokenLife: number;
  readonly issuer: string;
  readonly audience: Audience;
  readonly claims: ClaimPaths;
  readonly require: IssuerOptions['require'];
  readonly renamed: ReadonlyMap<string, string>;
  readonly allowed: ReadonlySet<string> | null;
}

type Claims = Readonly<Record<string, unknown>>;
type Judgement = { readonly identity: Identity } | { readonly refused: RefusedReason };

/** An id is a map key and a log field, so it has a bound; in UTF-16 units. */
const MAX_ID_LENGTH = 1024;

export function claimRules(options: JwtOptions, issuer: IssuerOptions): ClaimRules {
  return {
    resource: options.resource,
    clockTolerance: options.clockTolerance,
    maxTokenLife: options.maxTokenLife,
    issuer: issuer.issuer,
    audience: issuer.audience ?? [options.resource],
    claims: issuer.claims,
    require: issuer.require,
    renamed: new Map(Object.entries(issuer.roles.map)),
    allowed: issuer.roles.allowed === null ? null : new Set(issuer.roles.allowed),
  };
}

/**
 * Judges claims whose signature is verified. Pure; `now` is epoch milliseconds. Time first, then audience, then the
 * rest, so that a caller with an old token learns that it is old.
 */
export function judgeClaims(claims: Claims, rules: ClaimRules, now: number): Judgement {
  const time = judgeTime(claims, rules, now);
  if (typeof time === 'string') return { refused: time };
  if (!isMeantForUs(claims, rules)) return { refused: 'wrong_audience' };
  if (!holdsRequired(claims, rules.require)) return { refused: 'missing_claim' };
  const id = claimAt(claims, rules.claims.id);
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID_LENGTH) return { refused: 'no_subject' };
  return { identity: { issuer: rules.issuer, id, ...grantsOf(claims, rules), claims, expiresAt: time.expiresAt } };
}

/** RFC 7519 sections 4.1.4 to 4.1.6; dates there are in seconds. `expiresAt` is without tolerance. */
function judgeTime(claims: Claims, rules: ClaimRules, now: number): { expiresAt: number } | RefusedReason {
  const [exp, nbf, iat] = [claims.exp, claims.nbf, claims.iat];
  if (!isDate(exp)) return 'no_expiry';
  if ((nbf !== undefined && !isDate(nbf)) || (iat !== undefined && !isDate(iat))) return 'malformed';
  const expiresAt = exp * 1000;
  if (expiresAt <= now - rules.clockTolerance) return 'expired';
  if (nbf !== undefined && nbf * 1000 > now + rules.clockTolerance) return 'not_yet_valid';
  if (iat !== undefined && expiresAt - iat * 1000 > rules.maxTokenLife) return 'life_too_long';
  // Also with an `iat`: one in the future would make a far expiry look near.
  if (expiresAt - now > rules.maxTokenLife + rules.clockTolerance) return 'life_too_long';
  return { expiresAt };
}

/** An `aud` that does not name us refuses the token also where another claim stands for it (RFC 7519 section 4.1.3). */
function isMeantForUs(claims: Claims, { audience, resource }: ClaimRules): boolean {
  if (!('claim' in audience)) return names(claims.aud, audience);
  if (claims.aud !== undefined && !names(claims.aud, [resource])) return false;
  return names(claimAt(claims, audience.claim), audience.values);
}

function names(claim: unknown, accepted: readonly string[]): boolean {
  return listOf(claim).some((value) => accepted.includes(value));
}

function holdsRequired(claims: Claims, required: ClaimRules['require']): boolean {
  return Object.entries(required).every(([name, wanted]) => {
    const held = claimAt(claims, name);
    return acceptedValues(wanted).some((value) => value === held);
  });
}

function grantsOf(claims: Claims, rules: ClaimRules): { roles: readonly string[]; scopes: readonly string[] } {
  const roles = listOf(claimAt(claims, rules.claims.roles))
    .map((role) => rules.renamed.get(role) ?? role)
    .filter((role) => rules.allowed === null || rules.allowed.has(role));
  const scope = claimAt(claims, rules.claims.scopes);
  return { roles: distinct(roles), scopes: distinct(typeof scope === 'string' ? scope.split(' ') : listOf(scope)) };
}

/** One string, or the strings of a list; anything else holds none. */
function listOf(claim: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return values.filter((value) => typeof value === 'string');
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)].filter((value) => value !== '');
}

function isDate(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
