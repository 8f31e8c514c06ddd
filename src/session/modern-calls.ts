import type { Link } from '../ports/link.ts';
import type { SealPurpose } from '../ports/seal.ts';
import type { Response } from '../protocol/envelope.ts';
import type { Era } from '../protocol/era.ts';
import { INVALID_PARAMS, type WireError } from '../protocol/errors.ts';
import { type Brought, broughtBy, mayAskBack } from '../protocol/input-required.ts';
import type { LogLevel } from '../protocol/log-level.ts';
import { canBeAsked } from '../protocol/need.ts';
import type { CallsDeps } from './calls.ts';
import type { Unanswered } from './in-flight.ts';
import { LeasedCall, type LeasedCallDeps } from './leased-call.ts';
import { spellModern } from './modern-answers.ts';
import { type Extras, RelayedCall, type Spelled } from './relay.ts';
import { type Said, saidBy } from './said.ts';
import { type Kept, STATE_GONE, States } from './states.ts';
import type { Turn } from './turn.ts';

/** From here on a call that waits for its client may have to make room for another. Milliseconds. */
const GIVEN_UP_MS = 60_000;
const NOTHING: Brought = { responses: new Map(), state: undefined };

/** The data requests of one modern client, each with what it says of the client, and the calls that wait for it to come back. */
export class ModernCalls {
  private readonly deps: CallsDeps;
  private readonly states: States;
  private readonly waiting = new Map<string, LeasedCall>();
  private last = 0;

  constructor(deps: CallsDeps) {
    this.deps = deps;
    const { clock, seal, spend } = deps.gateway;
    this.states = new States({ clock, seal, spend, ...deps.caller });
  }

  get parked(): number {
    return this.waiting.size;
  }

  begin(turn: Turn): void {
    const { request, target } = turn;
    const said = saidBy(request);
    const brought = mayAskBack(request.method) ? broughtBy(request) : NOTHING;
    if ('problem' in brought)
      this.refuse(turn, { code: INVALID_PARAMS, message: `Invalid params: ${brought.problem}` });
    else if (brought.state === undefined) this.call(turn, said, brought, undefined);
    else {
      const kept = this.states.open(brought.state, request, target.upstream);
      if (kept === undefined) this.refuse(turn, STATE_GONE);
      else this.again(turn, said, brought, kept);
    }
  }

  /** Ends the calls nobody can come back for. */
  close(): void {
    for (const call of [...this.waiting.values()]) call.cancel();
  }

  /** A request that was answered with questions, sent again. */
  private again(turn: Turn, said: Said, brought: Brought, { purpose, content }: Kept): void {
    if (purpose === 'again') return this.call(turn, said, NOTHING, undefined);
    if (purpose === 'upstream-state') return this.call(turn, said, brought, content);
    const call = this.waiting.get(content);
    if (call === undefined) return this.refuse(turn, STATE_GONE);
    this.track(turn, said, call);
    call.resume(turn, said, brought.responses);
  }

  private call(turn: Turn, said: Said, brought: Brought, state: string | undefined): void {
    const { gateway, client } = this.deps;
    const { request, target } = turn;
    const { levels } = client;
    const common = {
      links: gateway.links,
      user: client,
      ready: (link: Link, level: LogLevel | undefined) => level !== undefined && levels.tell(link, level),
    };
    const leases = canBeAsked(said.declares) && mayAskBack(request.method) && gateway.links.lends(target.upstream);
    const call = leases
      ? new LeasedCall(turn, said, { ...common, ...this.parking() })
      : new RelayedCall(turn, extrasOf(said, brought, state), {
          ...common,
          spell: (response, now, era) => this.spell(response, now, said, era),
        });
    this.track(turn, said, call);
    call.start();
  }

  /** A client that has given a call up does not say so: where there is no room for another, the one that waited longest goes. */
  private makeRoom(upstream: string): boolean {
    const waiting = [...this.waiting.values()].filter((call) => call.upstream === upstream);
    const [longest] = waiting.sort((a, b) => b.waited - a.waited);
    if (longest === undefined || longest.waited < GIVEN_UP_MS) return false;
    this.deps.gateway.log.info('parked_call_displaced', { upstream });
    longest.cancel();
    return true;
  }

  private parking(): Omit<LeasedCallDeps, 'links' | 'user' | 'ready'> {
    const { clock, log, limits } = this.deps.gateway;
    return {
      clock,
      log,
      depth: limits.depth,
      spell: (response, turn, said, era) => this.spell(response, turn, said, era),
      logged: (notification) => this.deps.send(notification.text, 'log'),
      makeRoom: (upstream) => this.makeRoom(upstream),
      park: (call, { request, target }) => {
        this.last += 1;
        this.waiting.set(String(this.last), call);
        return this.states.seal('parked', String(this.last), request, target.upstream);
      },
      unpark: (call) => {
        for (const [key, waiting] of this.waiting) if (waiting === call) this.waiting.delete(key);
      },
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
    this.deps.add(turn.request.id, call);
    if (logLevel !== undefined) turn.whenOver(this.deps.client.levels.begin(turn.target.upstream, logLevel));
  }

  private refuse(turn: Turn, error: WireError): void {
    this.deps.add(turn.request.id, { cancel: null });
    turn.refuse(error);
  }
}

function extrasOf({ declares, logLevel }: Said, { responses }: Brought, state: string | undefined): Extras {
  const level = logLevel === undefined ? {} : { logLevel };
  if (responses.size === 0 && state === undefined) return { declares, ...level };
  const members = [...responses].map(([key, result]) => `${JSON.stringify(key)}:${result}`);
  return { declares, ...level, inputs: { responses: `{${members.join(',')}}`, state } };
}
