import type { FrameKind } from '../ports/connection.ts';
import type { Link } from '../ports/link.ts';
import { errorText } from '../protocol/compose.ts';
import { field, type Id, type Request } from '../protocol/envelope.ts';
import type { Era } from '../protocol/era.ts';
import { handshakeAnswer } from '../protocol/handshake-shape.ts';
import { NOT_FOUND } from './admit.ts';
import type { Authority } from './authority.ts';
import type { Client } from './client.ts';
import type { Gateway } from './context.ts';
import { DIALECTS } from './dialect.ts';
import type { Denial, Unanswered } from './in-flight.ts';
import { ModernCalls } from './modern-calls.ts';
import { type RelayDeps, RelayedCall, relistedFor } from './relay.ts';
import { Rounds } from './rounds.ts';
import { findTarget, type Judge, type Refusal } from './target.ts';
import { outcomeOf, Turn, type TurnDeps } from './turn.ts';

export interface CallsDeps {
  readonly gateway: Gateway;
  readonly authority: Authority;
  readonly client: Client;
  readonly send: (frame: string, kind: FrameKind, from?: 'shared') => void;
  /** Something of the client's has been handed to this link. */
  readonly wrote: (link: Link) => void;
  /** So many bytes more, or fewer, are kept for the client while it is away. */
  readonly hold: (bytes: number) => void;
  readonly add: (id: Id, call: Unanswered, turn?: Turn) => void;
  readonly take: (id: Id) => boolean;
  /** Something that was under way is over. */
  readonly idle: () => void;
}

/** The data requests of one client: who they go to, and how. */
export class Calls {
  private readonly deps: CallsDeps;
  private readonly turn: TurnDeps;
  private readonly relay: RelayDeps;
  private readonly modern: ModernCalls;
  private era: Era = 'handshake';

  constructor(deps: CallsDeps) {
    this.deps = deps;
    const { gateway, client, authority, send } = deps;
    this.turn = {
      clock: gateway.clock,
      send,
      finish: deps.take,
      ended: (call) => {
        gateway.recorder.ended(authority, call);
        deps.idle();
      },
    };
    this.relay = {
      links: gateway.links,
      user: client,
      wrote: deps.wrote,
      relisted: relistedFor(gateway, client),
      spell: (response, { request }, era) => {
        const frame =
          era === 'modern'
            ? handshakeAnswer(response, request.method, request.id)
            : DIALECTS.handshake.answer(response, request);
        return { frame, outcome: outcomeOf(response) };
      },
      rounds: ({ turn, again }) => {
        const { clock, limits } = gateway;
        const ask = client.asked.bind(client);
        return new Rounds({ clock, depth: limits.depth, ask, declared: client.capabilities, turn, again });
      },
    };
    this.modern = new ModernCalls(deps);
  }

  /** Calls that wait for the client to come back are under way as far as limits go; a request that may take one up counts in its place. */
  parkedBeside({ params }: Request): number {
    const comesBack = this.modern.parked > 0 && field(params, 'requestState') !== undefined;
    return comesBack ? this.modern.parked - 1 : this.modern.parked;
  }

  begin(request: Request, era: Era, readAt: number): void {
    const { gateway, client, authority } = this.deps;
    this.era = era;
    const target = findTarget(request, this.judge());
    if ('error' in target) return this.deny(request, era, target);
    const turn = new Turn(request, target, readAt, this.turn);
    gateway.recorder.started(authority, request, target);
    if (era === 'modern') return this.modern.begin(turn);
    const call = new RelayedCall(turn, { declares: client.capabilities }, this.relay);
    this.deps.add(request.id, call, turn);
    call.start();
  }

  /** By the grants of now; the error is the one the same request would be answered with if it came now. */
  readonly denial: Denial = ({ request, target }) => {
    const { authority, gateway } = this.deps;
    const decision = authority.grants.decide(target.subject);
    gateway.recorder.decidedAnew(authority, request, target, decision);
    if (decision.effect === 'allow') return undefined;
    const judged = findTarget(request, this.judge());
    return DIALECTS[this.era].error('error' in judged ? judged.error : NOT_FOUND);
  };

  revokeParked(): void {
    this.modern.revokeParked(this.denial);
  }

  /** The upstreams with calls that wait for the client to come back. */
  parkedAt(): string[] {
    return this.modern.parkedAt();
  }

  deny(request: Request, era: Era, refusal: Refusal): void {
    const { gateway, authority, send } = this.deps;
    gateway.recorder.denied(authority, request, refusal);
    send(errorText(request.id, DIALECTS[era].error(refusal.error)), 'answer');
  }

  close(): void {
    this.modern.close();
  }

  private judge(): Judge {
    const { gateway, authority, client } = this.deps;
    const { capabilities } = client.view();
    return { capabilities, snapshot: client.snapshot(), grants: authority.grants, vendor: gateway.vendor };
  }
}
