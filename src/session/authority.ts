import type { Principal } from '../auth/principal.ts';
import type { Grants } from '../policy/access.ts';
import type { Gateway } from './context.ts';

/** Whose session it is and what they may do, to be read at each use: a fresh token may change all but (issuer, id). */
export class Authority {
  readonly session: string;
  /** Whether they came by a token, so that another may take its place. */
  readonly isRenewable: boolean;
  private readonly grantsOf: (principal: Principal) => Grants;
  private held: { readonly principal: Principal; readonly grants: Grants };

  constructor(session: string, principal: Principal, gateway: Pick<Gateway, 'grants' | 'renewal'>) {
    this.session = session;
    this.isRenewable = gateway.renewal?.serves(principal) === true;
    this.grantsOf = (of) => gateway.grants(of);
    this.held = { principal, grants: this.grantsOf(principal) };
  }

  get principal(): Principal {
    return this.held.principal;
  }

  get grants(): Grants {
    return this.held.grants;
  }

  /** The same (issuer, id) by another token: what is decided from now on is decided by that. */
  renew(principal: Principal): void {
    this.held = { principal, grants: this.grantsOf(principal) };
  }
}
