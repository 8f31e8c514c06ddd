import type { Principal } from '../auth/principal.ts';
import type { Decision, Target } from './access.ts';
import { type CompiledRule, type Effect, outcome } from './compiled-rule.ts';
import { type Kind, type Subject, subjectOf } from './patterns.ts';

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
type Verdict = 'matches' | 'pending' | 'not';

/** Judges all rules that apply to the principal, the arguments unknown. */
export function standingOf(
  rules: readonly CompiledRule[],
  principal: Principal,
  target: Target,
  onError: OnError,
): Standing {
  const subject = subjectOf(target);
  const pending: Record<Effect, CompiledRule[]> = { deny: [], allow: [] };
  for (const effect of ['deny', 'allow'] as const) {
    for (const rule of rules) {
      if (rule.effect !== effect) continue;
      const verdict = verdictOf(rule, subject, principal, target, onError);
      if (verdict === 'pending') pending[effect].push(rule);
      if (verdict === 'matches') return effect === 'deny' ? denied(rule) : allowed(rule, pending.deny);
    }
  }
  return undecided(pending.deny, pending.allow);
}

/** Turns a standing into a decision, asking the pending rules where the arguments are known. */
export function decide(standing: Standing, principal: Principal, target: Target, onError: OnError): Decision {
  const text = target.arguments?.text;
  if (standing.decision.effect !== 'depends' || text === undefined) return standing.decision;
  const call = { principal, target: celTarget(target), argumentsText: text };
  const matches = (rule: CompiledRule) => outcome(rule.effect, () => rule.when?.evaluate(call) ?? true, onError);
  const denier = standing.pendingDenies.find(matches);
  if (denier !== undefined) return { effect: 'deny', rule: String(denier.index) };
  const allower = standing.allowedBy ?? standing.pendingAllows.find(matches);
  return allower === undefined ? DEFAULT : { effect: 'allow', rule: String(allower.index) };
}

const DEFAULT: Decision = { effect: 'deny', rule: 'default' };

function verdictOf(
  rule: CompiledRule,
  subject: Subject,
  principal: Principal,
  target: Target,
  onError: OnError,
): Verdict {
  if (rule.patterns.get(target.kind)?.(subject) !== true) return 'not';
  const { when } = rule;
  if (when === undefined) return 'matches';
  if (when.readsArguments) {
    if (takesArguments(target.kind)) return 'pending';
    return rule.effect === 'deny' ? 'matches' : 'not';
  }
  return outcome(rule.effect, () => when.evaluate({ principal, target: celTarget(target) }), onError)
    ? 'matches'
    : 'not';
}

function takesArguments(kind: Kind): boolean {
  return kind === 'tools' || kind === 'prompts';
}

/** `uri` is empty for what has none. */
function celTarget({ kind, upstream, name }: Target) {
  return { kind, upstream, name, uri: kind === 'resources' ? name : '' };
}

function denied(rule: CompiledRule): Standing {
  return settled({ effect: 'deny', rule: String(rule.index) });
}

function allowed(rule: CompiledRule, pendingDenies: readonly CompiledRule[]): Standing {
  const [first] = pendingDenies;
  if (first === undefined) return settled({ effect: 'allow', rule: String(rule.index) });
  return { decision: depends(first), pendingDenies, allowedBy: rule, pendingAllows: [] };
}

function undecided(pendingDenies: readonly CompiledRule[], pendingAllows: readonly CompiledRule[]): Standing {
  const [first] = pendingAllows;
  if (first === undefined) return settled(DEFAULT);
  return { decision: depends(first), pendingDenies, allowedBy: undefined, pendingAllows };
}

function settled(decision: Decision): Standing {
  return { decision, pendingDenies: [], allowedBy: undefined, pendingAllows: [] };
}

function depends(rule: CompiledRule): Decision {
  return { effect: 'depends', rule: String(rule.index) };
}
