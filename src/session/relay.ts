import type { Link, Links, LinkUser, Outgoing, Relayed, Reply } from '../ports/link.ts';
import type { Outcome } from '../ports/meter.ts';
import type { Notification, Response } from '../protocol/envelope.ts';
import type { Era } from '../protocol/era.ts';
import { asFault, type Fault } from '../protocol/errors.ts';
import { isInputRequired } from '../protocol/input-required.ts';
import type { Mirrors } from '../protocol/mirrors.ts';
import { HeaderMismatch } from '../protocol/modern.ts';
import type { Client } from './client.ts';
import type { Gateway } from './context.ts';
import type { Unanswered } from './in-flight.ts';
import type { Inputs, Rounds } from './rounds.ts';
import type { Target } from './target.ts';
import type { Turn } from './turn.ts';

export interface RelayDeps {
  readonly links: Links;
  readonly user: LinkUser;
  /** The upstream's answer as the client's era spells it. */
  readonly spell: (response: Response, turn: Turn, upstream: Era) => Spelled;
  /** A link that is about to carry a call which wants log messages from this level up. */
  readonly ready?: (link: Link, level: Extras['logLevel']) => void;
  /** Something has been handed to this link. */
  readonly wrote: (link: Link) => void;
  /** The call has failed without the upstream having seen it. */
  readonly untaken?: () => void;
  /** What a tool wants repeated once its upstream's tools have been listed anew. */
  readonly relisted: (target: Target) => Promise<Mirrors | undefined>;
  /** How a client that answers requests is asked; absent for one that is asked in answers. */
  readonly rounds?: (call: Asking) => Rounds;
}

export interface Spelled {
  readonly frame: string;
  readonly outcome: Outcome;
}

/** What a call does with what its client answered. */
export interface Asking {
  again(inputs: Inputs): void;
  readonly turn: Turn;
}

/** What a request says beside its text to an upstream of the modern era. */
export type Extras = Pick<Outgoing, 'declares' | 'logLevel' | 'inputs' | 'mirrors'>;

/**
 * One data request on its way: acquires the owner's link, forwards the text, brings back progress and exactly one
 * answer. Cancelled, it says nothing more.
 */
export class RelayedCall implements Reply, Unanswered {
  private readonly deps: RelayDeps;
  private readonly turn: Turn;
  private extras: Extras;
  private link: Link | undefined;
  private relayed: Relayed | undefined;
  private rounds: Rounds | undefined;
  private retried = false;

  constructor(turn: Turn, extras: Extras, deps: RelayDeps) {
    this.turn = turn;
    this.extras = extras;
    this.deps = deps;
  }

  /** Sends it; synchronous where the link is up. */
  start(): void {
    const link = this.deps.links.acquire(this.turn.target.upstream, this.deps.user);
    if (!(link instanceof Promise)) return this.forward(link);
    link.then((ready) => this.forward(ready)).catch((cause: unknown) => this.untaken(asFault(cause)));
  }

  answered(response: Response, receivedAt: number): void {
    if (this.turn.over) return;
    const { isolation = 'session', peer } = this.link ?? {};
    const era = peer?.era ?? 'handshake';
    if (era === 'modern' && this.deps.rounds !== undefined && isInputRequired(response)) return this.ask(response);
    const { frame, outcome } = this.deps.spell(response, this.turn, era);
    this.turn.answer(frame, outcome, { isolation, sentAt: this.relayed?.sentAt ?? receivedAt, receivedAt });
  }

  progress(notification: Notification): void {
    this.turn.progress(notification);
  }

  failed(fault: Fault, again: boolean): void {
    if (this.turn.over) return;
    const mayMirror = this.turn.request.method === 'tools/call' && this.link?.mirrors === true;
    const stale = mayMirror && fault.cause instanceof HeaderMismatch;
    if (again && this.retried) return this.untaken(fault);
    if (this.retried || !(again || stale)) return this.turn.fail(fault);
    this.retried = true;
    if (again) this.start();
    else void this.mirrorAnew(fault);
  }

  cancel(notification?: Notification): void {
    this.turn.cancelled();
    this.rounds?.close();
    this.relayed?.cancel(notification);
  }

  private untaken(fault: Fault): void {
    if (this.turn.over) return;
    this.deps.untaken?.();
    this.turn.fail(fault);
  }

  /** What the tool wants repeated may be another by now; if so, the call is sent once more (MCP 2026-07-28, Client Behavior). */
  private async mirrorAnew(fault: Fault): Promise<void> {
    const { target } = this.turn;
    const mirrors = await this.deps.relisted(target);
    if (this.turn.over) return;
    if (mirrors?.key === target.mirrors?.key) return this.turn.fail(fault);
    this.extras = { ...this.extras, mirrors };
    this.start();
  }

  private forward(link: Link): void {
    if (this.turn.over) return;
    this.link = link;
    this.deps.ready?.(link, this.extras.logLevel);
    this.relayed = link.relay(outgoing(this.turn, this.extras), this);
    this.deps.wrote(link);
  }

  private ask(response: Response): void {
    this.relayed = undefined;
    const again = (inputs: Inputs) => {
      this.extras = { ...this.extras, inputs };
      this.start();
    };
    this.rounds ??= this.deps.rounds?.({ turn: this.turn, again });
    this.rounds?.begin(response);
  }
}

/** `RelayDeps.relisted` of one client. */
export function relistedFor(gateway: Pick<Gateway, 'relistTools'>, client: Pick<Client, 'snapshot'>) {
  return async ({ upstream, name }: Target): Promise<Mirrors | undefined> => {
    await gateway.relistTools(upstream);
    return name === undefined ? undefined : client.snapshot().mirrorsOf(upstream, name);
  };
}

/** The request with what policy judged of it. */
export function outgoing({ request, target: { name, uri, mirrors } }: Turn, extras: Extras): Outgoing {
  const { declares, logLevel, inputs } = extras;
  const repeated = 'mirrors' in extras ? extras.mirrors : mirrors;
  return { message: request, name, uri, mirrors: repeated, declares, logLevel, inputs };
}
