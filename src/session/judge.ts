import type { Grants } from '../policy/access.ts';
import type { Request } from '../protocol/envelope.ts';
import type { Era } from '../protocol/era.ts';
import type { WireError } from '../protocol/errors.ts';
import { admit, admitModern, NOT_FOUND, type Phase, type Route } from './admit.ts';
import { chooseEra, type TakenEra } from './era.ts';
import { type Refusal, vendorTarget } from './target.ts';
import type { VendorMethods } from './vendor-methods.ts';

export interface Standing {
  readonly era: Era | undefined;
  readonly phase: Phase;
  readonly vendor: VendorMethods;
  readonly grants: Grants;
  /** Whether a fresh token may take the place of the one the client came by. */
  readonly refreshes: boolean;
}

export interface Admitted {
  readonly route: Route;
  readonly taken: TakenEra;
}

export type Verdict = Admitted | { readonly refuse: WireError } | { readonly deny: Refusal };

/** What becomes of a request where the session stands. Before any limit: whatever is full, a denied method looks like none. */
export function judge(request: Request, { era, phase, vendor, grants, refreshes }: Standing): Verdict {
  const taken = chooseEra(request, era);
  if ('refuse' in taken) return taken;
  const admission = taken.era === 'modern' ? admitModern(request) : admit(request, phase);
  if ('route' in admission)
    return admission.route === 'refresh' && !refreshes ? { refuse: NOT_FOUND } : { route: admission.route, taken };
  const target = admission.refuse === NOT_FOUND ? vendorTarget(request, vendor, grants) : undefined;
  if (target === undefined) return admission;
  return 'error' in target ? { deny: target } : { route: 'data', taken };
}
