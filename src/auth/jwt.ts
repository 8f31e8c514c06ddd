import { compactVerify, errors } from 'jose';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { RefusedReason, Verification, Verifier } from '../ports/verifier.ts';
import { type ClaimRules, claimRules, judgeClaims } from './claims.ts';
import type { IssuerOptions, JwtOptions } from './jwt-options.ts';
import { algorithmsOf, type KeyAnswer, type KeyDeps, type KeySource, keySource } from './keys.ts';
import { readToken, type UnverifiedToken } from './token-text.ts';

interface Issuer {
  readonly issuer: string;
  readonly rules: ClaimRules;
  readonly algorithms: readonly string[];
  readonly keys: KeySource;
}

interface VerifierDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Absent: nobody asks how old the keys are. */
  readonly meter?: Meter;
  /** Absent: the system's. */
  readonly fetch?: typeof fetch;
}

/** Told to callers when the verifier itself failed. */
const INTERNAL_RETRY_MS = 1000;

/**
 * Verifies JWTs of the configured issuers. Nothing is fetched before the first token needs it. Throws an Error with a
 * sentence when an issuer's keys cannot be used as configured; what is thrown holds no secret.
 */
export function jwtVerifier(options: JwtOptions, deps: VerifierDeps): Verifier {
  const issuers = openIssuers(options, { ...deps, fetch: deps.fetch ?? fetch });
  return {
    verify: async (token) => {
      try {
        return await judge(token, issuers, deps.clock);
      } catch (error) {
        return unavailable(error instanceof Error ? error : new Error('The verifier failed'), INTERNAL_RETRY_MS);
      }
    },
    close: async () => {
      for (const issuer of issuers.values()) issuer.keys.close();
    },
  };
}

function openIssuers(options: JwtOptions, deps: KeyDeps): ReadonlyMap<string, Issuer> {
  const issuers = new Map<string, Issuer>();
  for (const issuer of options.issuers) {
    if (issuers.has(issuer.issuer)) throw new Error(`Issuer ${issuer.issuer} is configured twice`);
    issuers.set(issuer.issuer, openIssuer(options, issuer, deps));
  }
  return issuers;
}

function openIssuer(options: JwtOptions, issuer: IssuerOptions, deps: KeyDeps): Issuer {
  return {
    issuer: issuer.issuer,
    rules: claimRules(options, issuer),
    algorithms: algorithmsOf(issuer),
    keys: keySource(issuer, deps),
  };
}

/** The unverified `iss` chooses whose keys decide; from then on only that issuer's keys and rules count. */
async function judge(token: string, issuers: ReadonlyMap<string, Issuer>, clock: Clock): Promise<Verification> {
  const unverified = readToken(token);
  if (unverified === undefined) return refused('malformed');
  const issuer = typeof unverified.claims.iss === 'string' ? issuers.get(unverified.claims.iss) : undefined;
  if (issuer === undefined) return refused('unknown_issuer');
  const verdict = await judgeBy(issuer, token, unverified, clock);
  return verdict.outcome === 'accepted' ? verdict : { ...verdict, issuer: issuer.issuer };
}

async function judgeBy(
  issuer: Issuer,
  token: string,
  unverified: UnverifiedToken,
  clock: Clock,
): Promise<Verification> {
  if (!issuer.algorithms.includes(unverified.algorithm)) return refused('bad_algorithm');
  const answer = await issuer.keys.find(unverified.header);
  if (answer.outcome === 'unavailable') return unavailable(answer.cause, answer.retryAfterMs);
  if (answer.outcome === 'unknown') return refused('unknown_key', answer.cause);
  const fault = await signatureFault(token, answer, unverified.algorithm);
  if (fault !== undefined) return fault;
  const judgement = judgeClaims(unverified.claims, issuer.rules, clock.now());
  return 'identity' in judgement ? { outcome: 'accepted', identity: judgement.identity } : refused(judgement.refused);
}

/** Undefined when one of the keys verifies the token. */
async function signatureFault(
  token: string,
  { keys }: Extract<KeyAnswer, { outcome: 'found' }>,
  algorithm: string,
): Promise<Verification | undefined> {
  let fault: Verification = refused('unknown_key');
  for (const key of keys) {
    try {
      await compactVerify(token, key, { algorithms: [algorithm] });
      return undefined;
    } catch (error) {
      fault = faultOf(error);
    }
  }
  return fault;
}

/** The library's own message and cause may describe key or token, so only the error's name is kept. */
function faultOf(error: unknown): Verification {
  if (error instanceof errors.JWSSignatureVerificationFailed) return refused('bad_signature');
  // Broken structure, or a `crit` header that is not understood (RFC 7515 section 4.1.11).
  if (error instanceof errors.JWSInvalid || error instanceof errors.JOSENotSupported) return refused('malformed');
  const name = error instanceof Error ? error.name : 'unknown error';
  return refused('bad_signature', new Error(`The key cannot verify the token (${name})`));
}

function refused(reason: RefusedReason, cause?: Error): Verification {
  return cause === undefined ? { outcome: 'refused', reason } : { outcome: 'refused', reason, cause };
}

function unavailable(cause: Error, retryAfterMs: number): Verification {
  return { outcome: 'unavailable', retryAfterMs, cause };
}
