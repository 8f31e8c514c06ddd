import type { Principal } from '../auth/principal.ts';
import type { Decision, FailedRule } from '../policy/access.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Counter, Gauge, Histogram, Meter, Outcome } from '../ports/meter.ts';
import type { AuditSink } from '../ports/sink.ts';
import type { Renewed } from '../ports/verifier.ts';
import { field, type Request, stringField } from '../protocol/envelope.ts';
import { Fault } from '../protocol/errors.ts';
import { JsonText } from '../protocol/json-text.ts';
import { METHODS } from './admit.ts';
import { nameOf, type Refusal, type Target } from './target.ts';
import type { EndedCall } from './turn.ts';

/** Whose request it was. */
export interface Caller {
  readonly session: string;
  readonly principal: Principal;
}

/** What a request is about, as far as it is known. */
interface Asked {
  readonly upstream?: string;
  readonly target?: string;
}

export interface RecorderDeps {
  readonly audit: AuditSink;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
}

/** The instruments of one method at one upstream, taken once: asking the meter for them costs more than the rest of a record. */
interface Instruments {
  duration: Histogram | undefined;
  readonly outcomes: Map<Outcome, Counter>;
}

/** `upstream` label of what the gateway answers itself. */
const NO_UPSTREAM = 'none';
const MAX_KEYS = 64;
const MAX_KEY_LENGTH = 128;

/** Writes down what became of every request: metrics, audit, and the cause of a failure in the log. */
export class CallRecorder {
  private readonly deps: RecorderDeps;
  private readonly inFlight: Gauge;
  private readonly overhead: Histogram;
  private readonly instruments = new Map<string, Map<string, Instruments>>();

  constructor(deps: RecorderDeps) {
    this.deps = deps;
    this.inFlight = deps.meter.gauge('inflight_requests', {});
    this.overhead = deps.meter.histogram('overhead_seconds', {});
  }

  /** Allowed, and under way from now on. */
  started(caller: Caller, request: Request, target: Target): void {
    this.inFlight.add(1);
    if (target.failed !== undefined) this.rulesFailed(caller, request, askedOf(target), target.failed);
  }

  /** Decided once more, by other grants. */
  decidedAnew(caller: Caller, request: Request, target: Target, { failed }: Decision): void {
    if (failed !== undefined) this.rulesFailed(caller, request, askedOf(target), failed);
  }

  /** Answered by the gateway itself. */
  answered(method: string, outcome: 'ok' | 'error'): void {
    this.count(labelOf(method), NO_UPSTREAM, outcome);
  }

  denied(caller: Caller, request: Request, { denied, rule, upstream, failed }: Refusal): void {
    const asked = { ...(upstream === undefined ? {} : { upstream }), ...askedFor(request) };
    this.count(labelOf(request.method), upstream ?? NO_UPSTREAM, denied ? 'denied' : 'error');
    if (failed !== undefined) this.rulesFailed(caller, request, asked, failed);
    this.deps.audit.record({
      time: this.deps.clock.now(),
      event: 'call',
      ...whose(caller, request),
      ...asked,
      decision: 'deny',
      rule,
      argumentKeys: keysOfArguments(request),
    });
  }

  ended({ session, principal }: Caller, { request, target, outcome, duration, overhead, cause }: EndedCall): void {
    const { upstream, rule } = target;
    this.inFlight.add(-1);
    const method = labelOf(request.method);
    this.observe(this.count(method, upstream, outcome), method, upstream, duration);
    if (overhead !== undefined) this.overhead.observe(overhead / 1000);
    this.deps.audit.record({
      time: this.deps.clock.now(),
      event: 'call',
      session,
      request: String(request.id),
      issuer: principal.issuer,
      id: principal.id,
      method: request.method,
      upstream,
      target: nameOf(target),
      decision: 'allow',
      rule,
      outcome,
      durationMs: duration,
      argumentKeys: keysOfArguments(request),
    });
    if (cause === undefined) return;
    this.deps.log.warn('call_failed', { session, request: String(request.id), upstream, outcome, ...because(cause) });
  }

  /** A fresh token changed what the session may do. */
  regranted(caller: Caller, request: Request): void {
    const time = this.deps.clock.now();
    this.deps.audit.record({ time, event: 'policy', ...whose(caller, request), reason: 'grants_changed' });
  }

  /** The verdict on a fresh token for an open session. */
  renewed({ session, principal }: Caller, request: Request, renewed: Renewed): void {
    const { audit, clock, log } = this.deps;
    const { issuer, id, address, via } = principal;
    const fields = { session, request: String(request.id), issuer, id };
    const event = { time: clock.now(), event: 'auth', request: session, issuer, id, address, via } as const;
    if (renewed.outcome === 'accepted') {
      audit.record({ ...event, session, decision: 'allow' });
      return log.info('token_renewed', fields);
    }
    const reason = renewed.outcome === 'refused' ? renewed.reason : 'keys_unavailable';
    const below = renewed.cause === undefined ? {} : { cause: renewed.cause.message };
    audit.record({ ...event, decision: 'deny', reason });
    log.info('token_not_renewed', { ...fields, reason, ...below });
  }

  /** In deciding a request, whether it was allowed or not. */
  private rulesFailed(caller: Caller, request: Request, asked: Asked, failed: readonly FailedRule[]): void {
    const { audit, clock, log } = this.deps;
    const of = whose(caller, request);
    for (const { rule, effect } of failed) {
      audit.record({ time: clock.now(), event: 'policy', ...of, reason: 'rule_failed', ...asked, rule, effect });
      log.info('policy_rule_failed', { session: of.session, request: of.request, rule, effect });
    }
  }

  private count(method: string, upstream: string, outcome: Outcome): Instruments {
    const instruments = this.instrumentsOf(method, upstream);
    const known = instruments.outcomes.get(outcome);
    const counter = known ?? this.deps.meter.counter('requests_total', { method, upstream, outcome });
    if (known === undefined) instruments.outcomes.set(outcome, counter);
    counter.add();
    return instruments;
  }

  private observe(instruments: Instruments, method: string, upstream: string, duration: number): void {
    instruments.duration ??= this.deps.meter.histogram('request_duration_seconds', { method, upstream });
    instruments.duration.observe(duration / 1000);
  }

  private instrumentsOf(method: string, upstream: string): Instruments {
    const known = this.instruments.get(method)?.get(upstream);
    if (known !== undefined) return known;
    const made: Instruments = { duration: undefined, outcomes: new Map<Outcome, Counter>() };
    const ofMethod = this.instruments.get(method) ?? new Map<string, Instruments>();
    this.instruments.set(method, ofMethod.set(upstream, made));
    return made;
  }
}

function whose({ session, principal: { issuer, id } }: Caller, { id: request, method }: Request) {
  return { session, request: String(request), issuer, id, method };
}

function askedOf(target: Target): Asked {
  return { upstream: target.upstream, target: nameOf(target) };
}

/** Only what is a method to the gateway is a label: every other text is a caller's. */
function labelOf(method: string): string {
  return METHODS.has(method) ? method : 'other';
}

/** A Fault of the gateway's own is a row of a table: its word and what caused it, without a stack, for there may be many. */
function because(cause: unknown): Readonly<Record<string, unknown>> {
  if (!(cause instanceof Fault)) return { err: cause };
  const below = cause.cause instanceof Error ? { cause: cause.cause.message } : {};
  return { reason: cause.reason, ...below };
}

/** What a refused request names, in its caller's own words. */
function askedFor({ text, params }: Request): { readonly target?: string } {
  const target = stringField(text, params, 'name') ?? stringField(text, params, 'uri');
  return target === undefined ? {} : { target };
}

/** At most 64 keys, each cut at 128 characters: the audit line has a bound whatever the caller sends. */
function keysOfArguments(request: Request): readonly string[] {
  const member = field(request.params, 'arguments');
  if (member === undefined || request.text.charCodeAt(member.start) !== 0x7b) return [];
  const { members } = new JsonText(request.text).object(member.start);
  return members.slice(0, MAX_KEYS).map(({ key }) => key.slice(0, MAX_KEY_LENGTH));
}
