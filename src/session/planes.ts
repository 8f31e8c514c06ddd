import type { Log } from '../ports/log.ts';
import type { Id, Request } from '../protocol/envelope.ts';
import type { Client } from './client.ts';
import { type Answered, ControlPlane } from './control-plane.ts';
import type { ModernPlane } from './modern-plane.ts';

export interface PlanesDeps {
  readonly client: Client;
  readonly answered: Answered;
  readonly log: Log;
}

/**
 * What speaks for the gateway itself to one client: its handshake session, and the modern one, which a client of both
 * eras asks with `server/discover` before it opens either.
 */
export class Planes {
  private readonly deps: PlanesDeps;
  private readonly handshake: ControlPlane;
  private modern: ModernPlane | undefined;
  private wasModern = false;
  /** Probes that the modern session has not answered. */
  private probes = 0;
  private waiting: (() => void)[] = [];

  constructor(deps: PlanesDeps) {
    this.deps = deps;
    this.handshake = new ControlPlane(deps.client.subscriptions, deps.answered);
  }

  /** The revision the handshake session chose; undefined until it has answered `initialize`. */
  get protocolVersion(): string | undefined {
    return this.handshake.protocolVersion;
  }

  get hasModern(): boolean {
    return this.modern !== undefined;
  }

  /** True for good once a modern request was admitted, be it a probe. */
  get hadModern(): boolean {
    return this.wasModern;
  }

  /** Requests under way as far as limits go. */
  get openListens(): number {
    return this.modern?.openListens ?? 0;
  }

  /** True for the id of an open listen: it is in use for as long as that lasts. */
  listensAs(id: Id): boolean {
    return this.modern?.listensAs(id) === true;
  }

  openModern(): void {
    this.wasModern = true;
    this.modern = this.deps.client.openModern((asked, frame, accepted) => {
      this.probeOver();
      this.deps.answered(asked, frame, accepted);
    });
  }

  /** The client is a modern one: it is told what it listens to. */
  settleModern(): void {
    if (this.modern !== undefined) this.deps.client.settleModern(this.modern);
  }

  /** What the client may see has changed. */
  revoke(): void {
    if (this.modern?.revoke() === true) this.deps.client.announced();
  }

  /** Ends the modern session once its probes are answered; open listens end with their result. Resolves when all that is sent. */
  async leaveModern(): Promise<void> {
    const { modern } = this;
    if (this.probes > 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
    await modern?.close().catch((err: unknown) => this.deps.log.error('modern_session_failed', { err }));
  }

  /** The client turns to the handshake: from here on no modern session is known. */
  forgetModern(): void {
    void this.leaveModern();
    this.modern = undefined;
  }

  async initialize(request: Request): Promise<void> {
    await this.handshake.initialize(this.deps.client.opening(request), request);
  }

  initialized(): void {
    this.handshake.initialized();
  }

  /** Returns the way to cancel the request: nothing is answered for it afterwards. */
  give(request: Request): () => void {
    if (request.method !== 'server/discover') return this.handshake.give(request);
    this.probes += 1;
    const cancel = this.modern?.give(request);
    return () => {
      this.probeOver();
      cancel?.();
    };
  }

  listen(request: Request): void {
    this.modern?.listen(request);
  }

  /** Ends an open listen at the client's wish; false where there is none. */
  unlisten(id: Id): boolean {
    return this.modern?.unlisten(id) === true;
  }

  /** After every probe was answered or cancelled. */
  close(): void {
    this.handshake.close();
    this.forgetModern();
  }

  private probeOver(): void {
    this.probes -= 1;
    if (this.probes === 0) for (const resume of this.waiting.splice(0)) resume();
  }
}
