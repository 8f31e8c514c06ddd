import { principalOf } from '../auth/principal.ts';
import type { Renewed } from '../ports/verifier.ts';
import { type Request, stringField } from '../protocol/envelope.ts';
import { Fault, faultError, INVALID_PARAMS, type WireError } from '../protocol/errors.ts';
import { refreshed } from '../protocol/token-extension.ts';
import type { Gateway } from './context.ts';
import { type Renewable, renew } from './renewing.ts';

export interface RefreshDeps extends Renewable {
  readonly gateway: Gateway;
  /** What is denied now may go on: the session must not. */
  readonly failed: (cause: unknown) => void;
}

/** The way back to whoever asked. */
export interface RefreshReply {
  answer(result: string): void;
  refuse(error: WireError): void;
}

/** At most one token is judged in this time, in milliseconds: each costs a signature, and may cost a look at the keys. */
const EVERY_MS = 30_000;

const NO_TOKEN: WireError = { code: INVALID_PARAMS, message: 'Invalid params: "token" must be a string' };
/** Whatever is wrong with it: the log says what. */
const REFUSED: WireError = { code: INVALID_PARAMS, message: 'The token was refused' };

/** A fresh token for a session that goes on. The token is held while it is judged, and goes to nobody but its judge. */
export class Refresh {
  private readonly deps: RefreshDeps;
  private judgedAt = Number.NEGATIVE_INFINITY;
  private isPending = false;

  constructor(deps: RefreshDeps) {
    this.deps = deps;
  }

  /** In flight from now on; everything else goes on meanwhile, the end of the old token too. */
  take(request: Request, reply: RefreshReply): void {
    const { authority, gateway, inFlight } = this.deps;
    const token = stringField(request.text, request.params, 'token');
    if (token === undefined) return reply.refuse(NO_TOKEN);
    const retryAfterMs = this.wait();
    if (retryAfterMs > 0) return reply.refuse(faultError(new Fault('rate_limited', { retryAfterMs })));
    let isWanted = true;
    inFlight.add(request.id, { cancel: () => (isWanted = false) });
    this.judgedAt = gateway.clock.elapsed();
    this.isPending = true;
    const { renewal } = gateway;
    const judging =
      renewal === undefined ? Promise.reject(new Error('no tokens')) : renewal.renew(token, authority.principal);
    judging
      .then((renewed) => {
        this.isPending = false;
        if (isWanted) this.judged(request, renewed, reply);
      })
      .catch((cause: unknown) => this.deps.failed(cause));
  }

  private judged(request: Request, renewed: Renewed, reply: RefreshReply): void {
    const { authority, gateway, inFlight } = this.deps;
    const { principal } = authority;
    inFlight.take(request.id);
    gateway.recorder.renewed(authority, request, renewed);
    if (renewed.outcome === 'accepted') {
      const { address, via } = principal;
      const regranted = () => gateway.recorder.regranted(authority, request);
      renew(principalOf(renewed.identity, { address, via }), this.deps, regranted);
      const { expiresAt } = renewed.identity;
      reply.answer(refreshed(expiresAt === null ? null : new Date(expiresAt).toISOString()));
    } else if (renewed.outcome === 'refused') reply.refuse(REFUSED);
    else {
      const retryAfterMs = Math.max(renewed.retryAfterMs, this.wait());
      reply.refuse(faultError(new Fault('upstream_unavailable', { retryAfterMs, cause: renewed.cause })));
    }
    this.deps.ending.whenIdle();
  }

  /** Milliseconds until another may be judged. */
  private wait(): number {
    const left = this.judgedAt + EVERY_MS - this.deps.gateway.clock.elapsed();
    return Math.max(left, this.isPending ? 1000 : 0);
  }
}
