/** The issuer of every principal that a client certificate stands for; no issuer of tokens may be called so. */
export const CERTIFICATE_ISSUER = 'x509';

/** Who a verified token says is calling, before transport facts. `expiresAt` is epoch milliseconds. */
export interface Identity {
  readonly issuer: string;
  readonly id: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
  readonly expiresAt: number | null;
}

/** How the caller arrived. `address` is the peer's, or the forwarded one behind a trusted proxy. */
export interface TransportFacts {
  readonly address: string;
  readonly via: 'websocket' | 'tcp' | 'stdio';
}

/** Who is calling: a frozen value. Everything bound "to the principal" is bound to (issuer, id). */
export interface Principal extends Identity, TransportFacts {}

/** Freezes identity and transport facts, arrays and claims included, into one value. */
export function principalOf(identity: Identity, facts: TransportFacts): Principal {
  return deepFreeze({
    issuer: identity.issuer,
    id: identity.id,
    roles: [...identity.roles],
    scopes: [...identity.scopes],
    claims: structuredClone(identity.claims),
    expiresAt: identity.expiresAt,
    address: facts.address,
    via: facts.via,
  });
}

/** One text per (issuer, id); two issuers' equal subjects differ. */
export function principalKey(principal: Identity): string {
  return JSON.stringify([principal.issuer, principal.id]);
}

function deepFreeze<T>(value: T): T {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    open.push(...Object.values(next));
  }
  return value;
}
