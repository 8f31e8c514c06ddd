import type { Link } from '../ports/link.ts';
import type { SealPurpose } from '../ports/seal.ts';
import type { Response } from '../protocol/envelope.ts';
import type { Era } from '../protocol/era.ts';
import { INVALID_PARAMS, type WireError } from '../protocol/errors.ts';
import { type Brought, broughtBy, mayAskBack } from '../protocol/input-required.ts';
import type { LogLevel } from '../protocol/log-level.ts';
import { canBeAsked } from '../protocol/need.ts';
import type { CallsDeps } from './calls.ts';
import type { Denial, Unanswered } from './in-flight.ts';
import { LeasedCall, type LeasedCallDeps } from './leased-call.ts';
import { spellModern } from './modern-answers.ts';
import { Parked } from './parked.ts';
import { type Extras, type RelayDeps, RelayedCall, relistedFor, type Spelled } from './relay.ts';
import { type Said, saidBy } from './said.ts';
import { type Kept, STATE_GONE, States } from './states.ts';
import type { Turn } from './turn.ts';

/** What every way of a call needs. */
type Common = Pick<LeasedCallDeps, 'links' | 'user' | 'ready' | 'wrote' | 'untaken'>;

const NOTHING: Brought = { responses: new Map(), state: undefined };

/** The data requests of one modern client, each with what it says of the client, and the calls that wait for it to come back. */
export class ModernCalls {
  private readonly deps: CallsDeps;
  private readonly states: States;
  private readonly waiting: Parked;
  private readonly relisted: RelayDeps['relisted'];
  private readonly ready = (link: Link, level: LogLevel | undefined): void => {
    if (level !== undefined) this.deps.client.levels.tell(link, level);
  };

  constructor(deps: CallsDeps) {
    this.deps = deps;
    const { clock, seal, spend, unspend } = deps.gateway;
    this.states = new States({ clock, seal, spend, unspend, caller: deps.authority });
    this.waiting = new Parked(deps.hold);
    this.relisted = relistedFor(deps.gateway, deps.client);
  }

  get parked(): number {
    return this.waiting.size;
  }

  /** The upstreams with calls that wait. */
  parkedAt(): string[] {
    return this.waiting.upstreams();
  }

  revokeParked(denial: Denial): void {
    this.waiting.revoke(denial);
  }

  begin(turn: Turn): void {
    const { request, target } = turn;
    const said = saidBy(request);
    const brought = mayAskBack(request.method) ? broughtBy(request) : NOTHING;
    if ('problem' in brought)
      this.refuse(turn, { code: INVALID_PARAMS, message: `Invalid params: ${brought.problem}` });
    else if (brought.state === undefined) this.call(turn, said, brought);
    else {
      const kept = this.states.open(brought.state, request, target.upstream);
      if (kept === undefined) this.refuse(turn, STATE_GONE);
      else this.again(turn, said, brought, kept);
    }
  }

  /** Ends the calls nobody can come back for. */
  close(): void {
    this.waiting.close();
  }

  /** A request that was answered with questions, sent again. */
  private again(turn: Turn, said: Said, brought: Brought, kept: Kept): void {
    if (kept.purpose === 'again') return this.call(turn, said, NOTHING, kept);
    if (kept.purpose === 'upstream-state') return this.call(turn, said, { ...brought, state: kept.content }, kept);
    const call = this.waiting.get(kept.content);
    if (call === undefined) return this.refuse(turn, STATE_GONE);
    this.track(turn, said, call);
    call.resume(turn, said, brought.responses);
  }

  /** `kept`: what the client has spent on it, and gets back if the upstream never sees the call. */
  private call(turn: Turn, said: Said, brought: Brought, kept?: Kept): void {
    const { gateway, client, wrote } = this.deps;
    const { request, target } = turn;
    const common = { links: gateway.links, user: client, ready: this.ready, wrote, untaken: () => kept?.giveBack() };
    const extras = extrasOf(said, brought);
    const leases = canBeAsked(said.declares) && mayAskBack(request.method) && gateway.links.lends(target.upstream);
    const call = leases
      ? new LeasedCall(turn, said, extras, { ...common, ...this.parking() })
      : new RelayedCall(turn, extras, this.relaying(said, common));
    this.track(turn, said, call);
    call.start();
  }

  private relaying(said: Said, common: Common): RelayDeps {
    const spell = (response: Response, turn: Turn, era: Era) => this.spell(response, turn, said, era);
    // Written out: a spread costs each call more than all the rest of its relaying.
    const { links, user, ready, wrote, untaken } = common;
    return { links, user, ready, wrote, untaken, spell, relisted: this.relisted };
  }

  private parking(): Omit<LeasedCallDeps, keyof Common> {
    const { clock, log, limits } = this.deps.gateway;
    return {
      clock,
      log,
      depth: limits.depth,
      spell: (response, turn, said, era) => this.spell(response, turn, said, era),
      logged: (notification) => this.deps.send(notification.text, 'log'),
      makeRoom: (upstream) => this.waiting.makeRoom(upstream),
      park: (call, { request, target }) =>
        this.states.seal('parked', this.waiting.add(call, { request, target }), request, target.upstream),
      unpark: (call) => this.waiting.remove(call),
      endedUnheard: (call) => this.waiting.ended(call),
    };
  }

  private spell(response: Response, turn: Turn, said: Said, era: Era): Spelled {
    const { request, target } = turn;
    const seal = (purpose: SealPurpose, content: string) =>
      this.states.seal(purpose, content, request, target.upstream);
    return spellModern(response, { turn, said, era, seal });
  }

  /** Under way from now on, and while it is, its log level holds. */
  private track(turn: Turn, { logLevel }: Said, call: Unanswered): void {
    this.deps.add(turn.request.id, call, turn);
    if (logLevel !== undefined) turn.whenOver(this.deps.client.levels.begin(turn.target.upstream, logLevel));
  }

  private refuse(turn: Turn, error: WireError): void {
    this.deps.add(turn.request.id, { cancel: null });
    turn.refuse(error);
  }
}

function extrasOf({ declares, logLevel }: Said, { responses, state }: Brought): Extras {
  const own = logLevel === undefined ? { declares } : { declares, logLevel };
  if (responses.size === 0 && state === undefined) return own;
  const members = [...responses].map(([key, result]) => `${JSON.stringify(key)}:${result}`);
  return { ...own, inputs: { responses: `{${members.join(',')}}`, state } };
}
