import type { Identity } from '../auth/principal.ts';

/** An anonymous caller is its own session: nothing is ever bound to more than one socket. */
export function anonymous(session: string, roles: readonly string[]): Identity {
  return { issuer: 'anonymous', id: session, roles, scopes: [], claims: {}, expiresAt: null };
}
