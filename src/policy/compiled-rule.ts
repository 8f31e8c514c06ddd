import type { Principal } from '../auth/principal.ts';
import { holdsFor } from './conditions.ts';
import { allowPatterns, denyPatterns, KINDS, type Kind, type Patterns } from './patterns.ts';
import type { PolicyRule } from './rule.ts';
import { compileWhen, type Facts, type When } from './when.ts';

export type Effect = 'allow' | 'deny';

/** `failed`: what was to be evaluated could not be. */
export type Held = boolean | 'failed';

export interface CompiledRule {
  readonly index: number;
  readonly effect: Effect;
  /** A kind that the rule does not name is not in it. */
  readonly patterns: ReadonlyMap<Kind, Patterns>;
  /** What is left to evaluate for each target; a `when` about the principal alone is settled by `appliesTo`. */
  readonly when: When | undefined;
  readonly readsArguments: boolean;
  /** Whether the rule may decide anything for this principal, as far as that needs no target. */
  appliesTo(principal: Principal): Held;
  /** What `when` still reads of the principal for each target. */
  readsOf(principal: Principal): readonly unknown[];
}

export type RuleResult =
  | { readonly ok: true; readonly rule: CompiledRule }
  | { readonly ok: false; readonly problems: readonly string[] };

/** `index` counts from 0 and names the rule in problems, decisions and the audit. */
export function compileRule(rule: PolicyRule, index: number): RuleResult {
  const when = rule.when === undefined ? undefined : compileWhen(rule.when);
  const problems = vacuous(rule);
  if (when?.ok === false) problems.push(`when: ${when.problem}`);
  if (problems.length > 0) return { ok: false, problems: problems.map((problem) => `policy[${index}].${problem}`) };
  return { ok: true, rule: assemble(rule, index, when?.ok === true ? when.when : undefined) };
}

/** A rule that can never match is a mistake; in a deny rule it would be a silent hole. */
function vacuous(rule: PolicyRule): string[] {
  const problems: string[] = [];
  const targets = rule.allow ?? rule.deny;
  if (KINDS.every((kind) => targets[kind] === undefined)) {
    problems.push(`${effectOf(rule)} names none of ${KINDS.join(', ')}, so the rule would match nothing.`);
  }
  if (rule.roles?.length === 0)
    problems.push('roles is empty, so the rule would match nobody; name a role or leave it out.');
  return problems;
}

function assemble(rule: PolicyRule, index: number, when: When | undefined): CompiledRule {
  const effect = effectOf(rule);
  const perTarget = when !== undefined && (when.readsTarget || when.readsArguments) ? when : undefined;
  return {
    index,
    effect,
    patterns: patternsOf(rule),
    when: perTarget,
    readsArguments: perTarget?.readsArguments ?? false,
    appliesTo(principal) {
      if (!holdsFor(rule, principal)) return false;
      return when === undefined || perTarget !== undefined || evaluated(when, { principal });
    },
    readsOf: (principal) => perTarget?.readsOf(principal) ?? [],
  };
}

/** Why it failed is nobody's to know: the reason may quote what was evaluated. */
export function evaluated(when: When, facts: Facts): Held {
  try {
    return when.evaluate(facts);
  } catch {
    return 'failed';
  }
}

function patternsOf(rule: PolicyRule): Map<Kind, Patterns> {
  const compile = effectOf(rule) === 'deny' ? denyPatterns : allowPatterns;
  const targets = rule.allow ?? rule.deny;
  const patterns = new Map<Kind, Patterns>();
  for (const kind of KINDS) {
    const compiled = compile(targets, kind);
    if (compiled !== undefined) patterns.set(kind, compiled);
  }
  return patterns;
}

function effectOf(rule: PolicyRule): Effect {
  return rule.allow === undefined ? 'deny' : 'allow';
}
