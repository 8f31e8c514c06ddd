import type { Clock } from '../ports/clock.ts';
import type { FrameKind } from '../ports/connection.ts';
import { decoded, field, type Request } from '../protocol/envelope.ts';
import { CAPABILITIES_KEY } from '../protocol/modern.ts';
import { declaresToken, mayNameToken, tokenExpiring } from '../protocol/token-extension.ts';
import type { Authority } from './authority.ts';

export interface ExpiryNoticeDeps {
  readonly authority: Authority;
  readonly clock: Clock;
  readonly send: (frame: string, kind: FrameKind) => void;
}

/** That the token ends soon, said once for each token, and only to a client that came by one, has declared it wants to hear so, and is open. */
export class ExpiryNotice {
  private readonly deps: ExpiryNoticeDeps;
  private declared = false;
  private isOpen = false;
  private due = false;

  constructor(deps: ExpiryNoticeDeps) {
    this.deps = deps;
  }

  /** What a handshake client declares, for as long as the session. */
  declares(capabilities: unknown): void {
    this.declared = this.deps.authority.isRenewable && declaresToken(capabilities);
  }

  /** A modern client declares itself with each request: one that has declared it hears, whatever later ones say. */
  declaresIn({ text, meta }: Request): void {
    if (this.declared || !this.deps.authority.isRenewable) return;
    const capabilities = field(meta, CAPABILITIES_KEY);
    if (capabilities === undefined || !mayNameToken(text.slice(capabilities.start, capabilities.end))) return;
    this.declared = declaresToken(decoded(text, capabilities));
    this.open();
  }

  /** The client may be told what it did not ask for. */
  open(): void {
    this.isOpen = true;
    this.sayIfDue();
  }

  expiring(): void {
    this.due = true;
    this.sayIfDue();
  }

  /** What was said of the old token, or was not, is nothing to the new one. */
  renewed(): void {
    this.due = false;
  }

  private sayIfDue(): void {
    const { authority, clock, send } = this.deps;
    const { expiresAt } = authority.principal;
    if (!this.due || !this.declared || !this.isOpen || expiresAt === null) return;
    this.due = false;
    const expiresInMs = Math.max(0, Math.round(expiresAt - clock.now()));
    send(tokenExpiring(new Date(expiresAt).toISOString(), expiresInMs), 'update');
  }
}
