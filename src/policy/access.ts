import type { Principal } from '../auth/principal.ts';
import { type CompiledRule, compileRule, type Effect } from './compiled-rule.ts';
import { type Applying, decide, type Standing, standingOf } from './decision.ts';
import type { Kind } from './patterns.ts';
import type { PolicySource } from './rule.ts';

export type { Kind } from './patterns.ts';

/** Something a caller wants to see or use. */
export interface Target {
  readonly kind: Kind;
  /** Key of the upstream that owns it. */
  readonly upstream: string;
  /** Original name; for resources the URI, or the text of a URI template. */
  readonly name: string;
  /** True when `name` is the text of a URI template: for lists and completion. Reading judges the expanded URI. */
  readonly template?: boolean;
  /** JSON text of the call's arguments (`{}` where it has none), for tools and prompts. Absent means not yet known. */
  readonly arguments?: { readonly text: string };
}

export interface Decision {
  /** `depends`: a rule reads `arguments`, which are not known. List it, and decide again at the call. */
  readonly effect: 'allow' | 'deny' | 'depends';
  /** Index of the deciding rule, `default` where no rule decided. */
  readonly rule: string;
  /** The rules on the way to it whose `when` could not be evaluated; absent where there are none. */
  readonly failed?: readonly FailedRule[];
}

/** It denied in a deny rule and did not match in an allow rule. */
export interface FailedRule {
  readonly rule: string;
  readonly effect: Effect;
}

/** The outcome of every rule for one principal. Immutable as seen from outside; sessions with equal keys may share one. */
export interface Grants {
  /** Equal keys of one policy decide equally for every target. Bounded by the size of the policy and of the token. */
  readonly key: string;
  /** Whether any rule that may concern this principal reads `arguments`. Where false, no decision is `depends`. */
  readonly readsArguments: boolean;
  decide(target: Target): Decision;
}

export interface Policy {
  /** Once per session, before anything is decided. */
  grants(principal: Principal): Grants;
}

export interface PolicyOptions {
  /** Called for each evaluation of a `when` that fails; what is remembered is not evaluated again. */
  readonly onError?: (effect: Effect) => void;
}

export type PolicyResult =
  | { readonly ok: true; readonly policy: Policy }
  /** Sentences that begin with the key at fault. */
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Compiles the policy of the configuration. Nothing is allowed unless a rule allows it, and any rule that denies wins.
 * `allow-authenticated` allows everything; null and an absent policy allow nothing, except that an anonymous gateway
 * without a policy is open.
 */
export function compilePolicy(
  source: PolicySource,
  mode: 'jwt' | 'anonymous',
  options: PolicyOptions = {},
): PolicyResult {
  if (source === 'allow-authenticated' || (source === undefined && mode === 'anonymous')) {
    return { ok: true, policy: { grants: () => OPEN } };
  }
  const results = (source ?? []).map((rule, index) => compileRule(rule, index));
  const problems = results.flatMap((result) => (result.ok ? [] : result.problems));
  if (problems.length > 0) return { ok: false, problems };
  const rules = results.flatMap((result) => (result.ok ? [result.rule] : []));
  return { ok: true, policy: policyOf(rules, options.onError ?? (() => {})) };
}

const OPEN: Grants = {
  key: 'open',
  readsArguments: false,
  decide: () => ({ effect: 'allow', rule: 'default' }),
};

/** Bounds of what one policy remembers; when one is reached, remembering starts anew. */
const MAX_GRANTS = 256;
const MAX_STANDINGS = 8_192;
const MAX_REMEMBERED_NAME = 512;

type OnError = (effect: Effect) => void;

function policyOf(rules: readonly CompiledRule[], onError: OnError): Policy {
  const known = new Map<string, Grants>();
  const standings = new Map<string, Standing>();
  let serial = 0;
  return {
    grants(principal) {
      const applying = applyingTo(principal, rules, onError);
      const key = JSON.stringify(applying.map((each) => keyOf(each, principal)));
      const shared = known.get(key);
      if (shared !== undefined) return shared;
      if (known.size >= MAX_GRANTS) known.clear();
      serial += 1;
      const remember = remembering(standings, String(serial));
      const grants = grantsOf(key, principal, applying, remember, onError);
      known.set(key, grants);
      return grants;
    },
  };
}

/** A rule that could not be asked about the principal stays, so that each decision it touches tells of it. */
function applyingTo(principal: Principal, rules: readonly CompiledRule[], onError: OnError): Applying[] {
  return rules.flatMap((rule) => {
    const held = rule.appliesTo(principal);
    if (held === 'failed') onError(rule.effect);
    return held === false ? [] : [{ rule, hasFailed: held === 'failed' }];
  });
}

function keyOf({ rule, hasFailed }: Applying, principal: Principal): readonly unknown[] {
  return hasFailed ? [rule.index, 'failed'] : [rule.index, ...rule.readsOf(principal)];
}

type Remember = (target: Target, work: () => Standing) => Standing;

/** Two hundred rules cost a call no more than two: what they say about a target is worked out once. */
function remembering(standings: Map<string, Standing>, owner: string): Remember {
  return (target, work) => {
    if (target.name.length > MAX_REMEMBERED_NAME) return work();
    const form = target.template === true ? 'template' : target.kind;
    const key = `${owner} ${form} ${target.upstream} ${target.name}`;
    const remembered = standings.get(key);
    if (remembered !== undefined) return remembered;
    if (standings.size >= MAX_STANDINGS) standings.clear();
    const standing = work();
    standings.set(key, standing);
    return standing;
  };
}

function grantsOf(
  key: string,
  principal: Principal,
  rules: readonly Applying[],
  remember: Remember,
  onError: OnError,
): Grants {
  return {
    key,
    readsArguments: rules.some(({ rule }) => rule.readsArguments),
    decide(target) {
      const standing = remember(target, () => standingOf(rules, principal, target, onError));
      return decide(standing, principal, target, onError);
    },
  };
}
