import { jwtVerifier } from '../auth/jwt.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../ports/clock.ts';
import type { Verifier } from '../ports/verifier.ts';
import { Remarks } from './remarks.ts';

/** Sentences about issuers whose keys cannot be used: a file that is not there, a key server that does not answer. Never rejects. */
export async function issuerProblems({ auth }: Config, clock: Clock): Promise<string[]> {
  if (auth.mode !== 'jwt') return [];
  const log = new Remarks();
  let verifier: Verifier;
  try {
    verifier = jwtVerifier(auth, { clock, log });
  } catch (error) {
    return [log.explain(error)];
  }
  const asked = auth.issuers.map(async ({ issuer, algorithms }, index) => {
    const verdict = await verifier.verify(unknownToken(issuer, algorithms[0] ?? 'ES256'));
    const place = `auth.issuers[${index}].keys`;
    return verdict.outcome === 'unavailable' ? [`${place}: no keys of ${issuer}: ${log.explain(verdict.cause)}`] : [];
  });
  const problems = await Promise.all(asked);
  await verifier.close();
  return problems.flat();
}

/** A token that no key has signed: judging it makes the verifier get the issuer's keys, within that issuer's `timeout`. */
function unknownToken(iss: string, alg: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg, kid: 'check' })}.${part({ iss })}.AA`;
}
