import { createHash } from 'node:crypto';
import { principalKey } from '../auth/principal.ts';
import type { Clock } from '../ports/clock.ts';
import type { Opened, Seal, SealPurpose } from '../ports/seal.ts';
import type { Request } from '../protocol/envelope.ts';
import { INVALID_PARAMS, type WireError } from '../protocol/errors.ts';
import type { Caller } from './call-recorder.ts';

export interface StatesDeps {
  readonly seal: Seal;
  /** Takes each sealed text once; false the second time. */
  readonly spend: (principal: string, nonce: string, expiresAt: number) => boolean;
  readonly unspend: (principal: string, nonce: string, expiresAt: number) => void;
  readonly clock: Clock;
  readonly caller: Caller;
}

/** What a `requestState` of ours stands for: a call of this session that waits, a state of the upstream's own, or nothing but the request itself. */
export interface Kept {
  readonly purpose: SealPurpose;
  /** The call, or the upstream's state. */
  readonly content: string;
  /** The state may be brought once more after all. */
  giveBack(): void;
}

/** How long a client has to send a request again, in milliseconds. */
export const STATE_MS = 600_000;

export const STATE_GONE: WireError = {
  code: INVALID_PARAMS,
  message: 'The request state is no longer valid',
  data: { reason: 'state_gone', retryable: false },
};

const PURPOSES: readonly SealPurpose[] = ['parked', 'upstream-state', 'again'];
/** What a request that is sent again may say anew. */
const RENEWED = new Set(['_meta', 'inputResponses', 'requestState']);

/**
 * The `requestState`s of one session: sealed for its principal, the upstream, the method and the parameters, with an
 * end, and each good for one use (MCP 2026-07-28: a server must treat what comes back as the client's own words).
 */
export class States {
  private readonly deps: StatesDeps;

  constructor(deps: StatesDeps) {
    this.deps = deps;
  }

  seal(purpose: SealPurpose, content: string, request: Request, upstream: string): string {
    const { seal, clock } = this.deps;
    const sealed = digestOf(request) + content;
    return seal.seal(purpose, sealed, this.bound(purpose, request, upstream), clock.now() + STATE_MS);
  }

  /**
   * Undefined for what was not sealed for this very request of this principal, has expired, or was opened before. A forged
   * one costs no look at the parameters.
   */
  open(state: string, request: Request, upstream: string): Kept | undefined {
    for (const purpose of PURPOSES) {
      const opened = this.deps.seal.open(purpose, state, this.bound(purpose, request, upstream));
      if (opened !== undefined) return this.take(purpose, opened, request);
    }
    return undefined;
  }

  private take(purpose: SealPurpose, { content, nonce, expiresAt }: Opened, request: Request): Kept | undefined {
    const { spend, unspend, caller } = this.deps;
    const holder = principalKey(caller.principal);
    if (content.slice(0, DIGEST_LENGTH) !== digestOf(request)) return undefined;
    // A call that waits is taken up once by itself: its key names nothing afterwards.
    if (purpose !== 'parked' && !spend(holder, nonce, expiresAt)) return undefined;
    return { purpose, content: content.slice(DIGEST_LENGTH), giveBack: () => unspend(holder, nonce, expiresAt) };
  }

  /** A call that waits is this session's: its links die with it. */
  private bound(purpose: SealPurpose, request: Request, upstream: string): string {
    const holder = purpose === 'parked' ? this.deps.caller.session : '';
    return JSON.stringify([principalKey(this.deps.caller.principal), holder, upstream, request.method]);
  }
}

/** Of SHA-256 in base64url. */
const DIGEST_LENGTH = 43;

/** Of the parameters as they are spelled, whatever the order of their keys. */
function digestOf({ text, params }: Request): string {
  const members = (params?.members ?? []).filter(({ key }) => !RENEWED.has(key));
  const spelled = members.map(({ key, start, end }) => [key, text.slice(start, end)] as const);
  spelled.sort(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash('sha256');
  for (const [key, value] of spelled) hash.update(JSON.stringify([key, value]));
  return hash.digest('base64url');
}
