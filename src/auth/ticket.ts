import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../ports/clock.ts';
import type { Seal } from '../ports/seal.ts';
import type { Put, Store } from '../ports/store.ts';
import { type Identity, principalKey } from './principal.ts';

/** How long a ticket may be spent, in milliseconds. */
export const TICKET_LIFE_MS = 30_000;

/** Tickets not yet spent: of one principal as many as it may have sockets by default, in all as many sockets as there may be, in 32 Mi UTF-16 units. */
export const TICKET_BOUNDS = { entries: 10_000, perOwner: 20, units: 32 * 1024 * 1024 };

const TICKET_BYTES = 32;
/** `TICKET_BYTES` in base64url. */
const TICKET = /^[A-Za-z0-9_-]{43}$/;

const SNAPSHOT = z.object({
  identity: z.object({
    issuer: z.string(),
    id: z.string(),
    roles: z.array(z.string()),
    scopes: z.array(z.string()),
    claims: z.record(z.string(), z.unknown()),
    expiresAt: z.number().nullable(),
  }),
  /** Null where the request for the ticket had no Origin. */
  origin: z.string().nullable(),
});

export type Issued = { readonly ticket: string } | { readonly full: Exclude<Put, 'kept'> };

/** One-time stand-ins for a token that was verified, for those who can carry nothing but a URL. Both reject where the store does, `issue` also where an identity is too long to be sealed. */
export interface Tickets {
  issue(identity: Identity, origin: string | undefined): Promise<Issued>;
  /** Whom the ticket was issued to, once. Undefined alike for what is unknown, spent, expired, from another Origin, not sealed by this gateway, or of a token that has expired since. */
  spend(ticket: string, origin: string | undefined): Promise<Identity | undefined>;
}

export interface TicketParts {
  readonly store: Store;
  /** Of every replica that shares the store. */
  readonly seal: Seal;
  readonly clock: Clock;
  /** Milliseconds by which the clocks of issuers and replicas may differ. */
  readonly clockTolerance: number;
}

/**
 * The store learns a ticket's hash and what only the gateway can read: whoever reads the store can spend no ticket and
 * learns of nobody, and whoever writes to it makes none, for what it gives is sealed for that ticket.
 */
export function createTickets({ store, seal, clock, clockTolerance }: TicketParts): Tickets {
  return {
    async issue(identity, origin) {
      const ticket = randomBytes(TICKET_BYTES).toString('base64url');
      const [key, snapshot] = [keyOf(ticket), JSON.stringify({ identity, origin: origin ?? null })];
      // The store's clock ends a ticket. The seal's end is for what is put back into the store, by replicas' clocks.
      const value = seal.seal('ticket', snapshot, key, clock.now() + TICKET_LIFE_MS + clockTolerance);
      const put = await store.put(key, { value, owner: principalKey(identity), life: TICKET_LIFE_MS });
      return put === 'kept' ? { ticket } : { full: put };
    },
    async spend(ticket, origin) {
      if (!TICKET.test(ticket)) return undefined;
      const key = keyOf(ticket);
      const opened = seal.open('ticket', (await store.take(key)) ?? '', key);
      if (opened === undefined) return undefined;
      const snapshot = SNAPSHOT.parse(JSON.parse(opened.content));
      if (snapshot.origin !== (origin ?? null)) return undefined;
      const { expiresAt } = snapshot.identity;
      return expiresAt === null || clock.now() < expiresAt + clockTolerance ? snapshot.identity : undefined;
    },
  };
}

function keyOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('base64url');
}
