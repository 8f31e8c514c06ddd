import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Principal, principalOf } from '../../src/auth/principal.ts';
import { policySchema } from '../../src/config/schema-policy.ts';
import { compilePolicy, type Grants, type Kind, type Target } from '../../src/policy/access.ts';

/** A policy as its file has it, values of any kind. */
type Tree = Readonly<Record<string, unknown>>;

const names = fc.array(fc.constantFrom('**', 's/*', '*/del', 'f/get', 's/a/*'), { minLength: 1, maxLength: 2 });
const uris = fc.array(fc.constantFrom('**', 'f://h/*', 'f://h/**', 'g:*'), { minLength: 1, maxLength: 2 });
const targets = fc.record({ tools: names, prompts: names, resources: uris }, { requiredKeys: ['tools'] });
const conditions = fc.record(
  {
    roles: fc.subarray(['x', 'y'], { minLength: 1 }),
    scopes: fc.subarray(['r', 'w'], { minLength: 1 }),
    claims: fc.constantFrom({ dept: 's' }, { dept: ['s', 'f'] }),
    when: fc.constantFrom('principal.id == "ann"', 'target.name == "del"'),
  },
  { requiredKeys: [] },
);
const rule = (effect: 'allow' | 'deny') =>
  fc.tuple(fc.oneof(fc.constant({}), conditions), targets).map(([who, what]) => ({ ...who, [effect]: what }));
const policies = fc.array(fc.oneof({ weight: 3, arbitrary: rule('allow') }, rule('deny')), {
  minLength: 1,
  maxLength: 4,
});

const principals = fc
  .record({
    id: fc.constantFrom('ann', 'bob'),
    roles: fc.subarray(['x', 'y']),
    scopes: fc.subarray(['r', 'w']),
    claims: fc.constantFrom({}, { dept: 's' }, { dept: ['f'] }),
  })
  .map((known) => principalOf({ ...known, issuer: 'i', expiresAt: null }, { address: '::1', via: 'websocket' }));

const ASKED: readonly Target[] = [
  ...(['tools', 'prompts', 'methods'] as const satisfies readonly Kind[]).flatMap((kind) =>
    ['s', 'f'].flatMap((upstream) => ['get', 'del', 'a/get'].map((name) => ({ kind, upstream, name }))),
  ),
  ...['f://h/a', 'f://h/a/b', 'g:x'].map((name) => ({ kind: 'resources' as const, upstream: 's', name })),
];

/** What a gateway with this policy decides by; undefined where it does not start. */
function grantsOf(policy: unknown, principal: Principal): Grants | undefined {
  const read = policySchema.safeParse(policy);
  const compiled = read.success ? compilePolicy(read.data, 'jwt') : undefined;
  return compiled?.ok === true ? compiled.policy.grants(principal) : undefined;
}

function allowed(policy: unknown, principal: Principal): ReadonlySet<Target> {
  const grants = grantsOf(policy, principal);
  return new Set(ASKED.filter((target) => grants !== undefined && grants.decide(target).effect !== 'deny'));
}

/** Every place in a tree, as the keys that lead there. */
function placesIn(value: unknown, at: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [at];
  const entries: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [at, ...entries.flatMap(([key, below]) => placesIn(below, [...at, key]))];
}

/** The same with one value left out or left empty. */
function without(value: unknown, [key, ...rest]: readonly (string | number)[], leave: 'nothing' | 'null'): unknown {
  if (key === undefined) return null;
  if (rest.length > 0 || leave === 'null') {
    const put = (one: unknown) => (rest.length > 0 ? without(one, rest, leave) : null);
    if (Array.isArray(value)) return value.map((one, at) => (at === key ? put(one) : one));
    return Object.fromEntries(
      Object.entries(value as Tree).map(([name, one]) => [name, name === key ? put(one) : one]),
    );
  }
  if (Array.isArray(value)) return value.filter((_, at) => at !== key);
  return Object.fromEntries(Object.entries(value as Tree).filter(([name]) => name !== key));
}

const DELETING = fc.record({ policy: policies, who: principals, at: fc.nat() });

describe('an edit that deletes', () => {
  test('any value, and leaves its key, adds no permission: the file is refused, or less is allowed', () => {
    fc.assert(
      fc.property(DELETING, ({ policy, who, at }) => {
        const places = placesIn(policy);
        const edited = without(policy, places[at % places.length] ?? [], 'null');
        const before = allowed(policy, who);
        expect([...allowed(edited, who)].filter((target) => !before.has(target))).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  test('what allows, in whole or in part, adds no permission', () => {
    fc.assert(
      fc.property(DELETING, ({ policy, who, at }) => {
        const allows = placesIn(policy).filter(
          ([rule, part]) => allowRule(policy, rule) && (part ?? 'allow') === 'allow',
        );
        fc.pre(allows.length > 0);
        const edited = without(policy, allows[at % allows.length] ?? [], 'nothing');
        const before = allowed(policy, who);
        expect([...allowed(edited, who)].filter((target) => !before.has(target))).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  test('the policy, to its last rule or its key, leaves nothing allowed', () => {
    fc.assert(
      fc.property(principals, fc.constantFrom([], null), (who, policy) => {
        expect([...allowed(policy, who)]).toEqual([]);
      }),
    );
  });
});

function allowRule(policy: readonly Tree[], at: string | number | undefined): boolean {
  return typeof at === 'number' && policy[at]?.allow !== undefined;
}
