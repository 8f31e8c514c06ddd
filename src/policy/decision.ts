import type { Principal } from '../auth/principal.ts';
import type { Decision, FailedRule, Target } from './access.ts';
import { type CompiledRule, type Effect, evaluated, type Held } from './compiled-rule.ts';
import { type Kind, type Subject, subjectOf } from './patterns.ts';

/** A rule that may decide something for a principal. `hasFailed`: its `when` is about the principal and could not be evaluated. */
export interface Applying {
  readonly rule: CompiledRule;
  readonly hasFailed: boolean;
}

/** What the rules say about a target before its arguments are known. `pending` rules read them and are still to be asked. */
export interface Standing {
  /** Settled unless rules are pending. */
  readonly decision: Decision;
  readonly pendingDenies: readonly CompiledRule[];
  /** The rule that allows when no pending deny matches; where there is none, the pending allows are asked. */
  readonly allowedBy: CompiledRule | undefined;
  readonly pendingAllows: readonly CompiledRule[];
}

type OnError = (effect: Effect) => void;
type Verdict = Held | 'pending';

/** Judges all rules that apply to the principal, the arguments unknown. */
export function standingOf(
  rules: readonly Applying[],
  principal: Principal,
  target: Target,
  onError: OnError,
): Standing {
  const subject = subjectOf(target);
  const failures = new Failures();
  const pending: Record<Effect, CompiledRule[]> = { deny: [], allow: [] };
  for (const effect of ['deny', 'allow'] as const) {
    for (const applying of rules) {
      const { rule } = applying;
      if (rule.effect !== effect) continue;
      const verdict = verdictOf(applying, subject, principal, target);
      if (verdict === 'failed' && !applying.hasFailed) onError(effect);
      if (verdict === 'pending') pending[effect].push(rule);
      else if (failures.matches(verdict, rule))
        return effect === 'deny' ? denied(rule, failures) : allowed(rule, pending.deny, failures);
    }
  }
  return undecided(pending.deny, pending.allow, failures);
}

/** Turns a standing into a decision, asking the pending rules where the arguments are known. */
export function decide(standing: Standing, principal: Principal, target: Target, onError: OnError): Decision {
  const text = target.arguments?.text;
  if (standing.decision.effect !== 'depends' || text === undefined) return standing.decision;
  const call = { principal, target: celTarget(target), argumentsText: text };
  const failures = new Failures(standing.decision.failed);
  const matches = (rule: CompiledRule) => {
    const held = rule.when === undefined || evaluated(rule.when, call);
    if (held === 'failed') onError(rule.effect);
    return failures.matches(held, rule);
  };
  const denier = standing.pendingDenies.find(matches);
  if (denier !== undefined) return failures.with({ effect: 'deny', rule: String(denier.index) });
  const allower = standing.allowedBy ?? standing.pendingAllows.find(matches);
  return failures.with(allower === undefined ? DEFAULT : { effect: 'allow', rule: String(allower.index) });
}

const DEFAULT: Decision = { effect: 'deny', rule: 'default' };

/** What failed on the way to one decision. */
class Failures {
  #failed: readonly FailedRule[] | undefined;

  constructor(before?: readonly FailedRule[]) {
    this.#failed = before;
  }

  /** An expression that fails denies in a deny rule and does not match in an allow rule. */
  matches(held: Held, { index, effect }: CompiledRule): boolean {
    if (held !== 'failed') return held;
    this.#failed = [...(this.#failed ?? []), { rule: String(index), effect }];
    return effect === 'deny';
  }

  with(decision: Decision): Decision {
    return this.#failed === undefined ? decision : { ...decision, failed: this.#failed };
  }
}

function verdictOf({ rule, hasFailed }: Applying, subject: Subject, principal: Principal, target: Target): Verdict {
  if (rule.patterns.get(target.kind)?.(subject) !== true) return false;
  if (hasFailed) return 'failed';
  const { when } = rule;
  if (when === undefined) return true;
  if (!when.readsArguments) return evaluated(when, { principal, target: celTarget(target) });
  return takesArguments(target.kind) ? 'pending' : rule.effect === 'deny';
}

function takesArguments(kind: Kind): boolean {
  return kind === 'tools' || kind === 'prompts';
}

/** `uri` is empty for what has none. */
function celTarget({ kind, upstream, name }: Target) {
  return { kind, upstream, name, uri: kind === 'resources' ? name : '' };
}

function denied(rule: CompiledRule, failures: Failures): Standing {
  return settled(failures.with({ effect: 'deny', rule: String(rule.index) }));
}

function allowed(rule: CompiledRule, pendingDenies: readonly CompiledRule[], failures: Failures): Standing {
  const [first] = pendingDenies;
  if (first === undefined) return settled(failures.with({ effect: 'allow', rule: String(rule.index) }));
  return { decision: depends(first, failures), pendingDenies, allowedBy: rule, pendingAllows: [] };
}

function undecided(
  pendingDenies: readonly CompiledRule[],
  pendingAllows: readonly CompiledRule[],
  failures: Failures,
): Standing {
  const [first] = pendingAllows;
  if (first === undefined) return settled(failures.with(DEFAULT));
  return { decision: depends(first, failures), pendingDenies, allowedBy: undefined, pendingAllows };
}

function settled(decision: Decision): Standing {
  return { decision, pendingDenies: [], allowedBy: undefined, pendingAllows: [] };
}

function depends(rule: CompiledRule, failures: Failures): Decision {
  return failures.with({ effect: 'depends', rule: String(rule.index) });
}
