import type { Principal } from '../auth/principal.ts';
import type { ListKind } from '../ports/meter.ts';
import type { Authority } from './authority.ts';
import type { Calls } from './calls.ts';
import type { Client } from './client.ts';
import type { Ending } from './ending.ts';
import type { InFlight } from './in-flight.ts';
import type { Life } from './life.ts';
import type { Planes } from './planes.ts';

/** The parts of a session that a fresh token concerns. */
export interface Renewable {
  readonly authority: Authority;
  readonly life: Life;
  readonly ending: Ending;
  readonly inFlight: InFlight;
  readonly calls: Calls;
  readonly client: Client;
  readonly planes: Planes;
}

const LISTS: readonly ListKind[] = ['tools', 'resources', 'prompts'];

/**
 * From now on the session is this principal's: the same (issuer, id), what it may do and for how long as the fresh token
 * says. `regranted` is called where that is not what it was, before anything ends by it.
 */
export function renew(principal: Principal, session: Renewable, regranted: () => void): void {
  const { authority, life, ending, client } = session;
  const before = authority.grants.key;
  authority.renew(principal);
  life.renew(principal.expiresAt);
  ending.renewed();
  client.notice.renewed();
  if (authority.grants.key === before) return;
  regranted();
  revoke(session);
}

/**
 * The grants of a session have changed: ends what they deny now and tells what they changed. Calls are answered as if they
 * came now, subscriptions are heard no more, and nothing of an upstream that is out of view can reach the client.
 */
function revoke({ inFlight, calls, client, planes }: Renewable): void {
  inFlight.revoke(calls.denial);
  calls.revokeParked();
  if (!planes.hasModern) client.subscriptions.revoke();
  client.leaveHidden(new Set([...inFlight.upstreams(), ...calls.parkedAt()]));
  for (const kind of LISTS) client.listMayHaveChanged(kind);
  planes.revoke();
}
