import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Principal, principalOf } from '../../src/auth/principal.ts';
import { compilePolicy, type Grants, type Kind, type Target } from '../../src/policy/access.ts';
import type { PolicyRule, Targets } from '../../src/policy/rule.ts';

const WHENS = [
  'principal.id == "ann"',
  'target.name == "del"',
  'principal.claims.dept == target.upstream',
  'arguments.force == true',
  'arguments.n > 2 || "x" in principal.roles',
];
const names = fc.constantFrom('get', 'del', 'DEL', 'a/del', 'del/a', '');
const uris = fc.constantFrom('f://h/a', 'f://h/a/b', 'f://h/../a', 'F://h/a', 'g:x', 'f://h/%61');
const keys = fc.constantFrom('s', 'files');
const nameGlobs = fc.array(fc.constantFrom('**', 's/*', '*/del', 'files/get', 's/a/*', '*/d*'), { maxLength: 2 });
const uriGlobs = fc.array(fc.constantFrom('**', 'f://h/*', 'f://h/**', 'g:*', '*:*'), { maxLength: 2 });

const targets: fc.Arbitrary<Targets> = fc
  .record(
    {
      tools: nameGlobs,
      prompts: nameGlobs,
      methods: nameGlobs,
      resources: uriGlobs,
      upstreams: fc.array(fc.constantFrom('s', 'f*'), { maxLength: 2 }),
    },
    { requiredKeys: ['tools', 'resources'] },
  )
  .map((record) => record);
const conditions = fc.record(
  {
    roles: fc.subarray(['x', 'y'], { minLength: 1 }),
    scopes: fc.subarray(['r', 'w']),
    claims: fc.constantFrom({ dept: 's' }, { dept: ['s', 'files'] }),
    when: fc.constantFrom(...WHENS),
  },
  { requiredKeys: [] },
);
const allow: fc.Arbitrary<PolicyRule> = fc.tuple(conditions, targets).map(([who, what]) => ({ ...who, allow: what }));
const deny: fc.Arbitrary<PolicyRule> = fc.tuple(conditions, targets).map(([who, what]) => ({ ...who, deny: what }));
const rules = fc.array(fc.oneof({ weight: 3, arbitrary: allow }, deny), { maxLength: 5 });

const principals: fc.Arbitrary<Principal> = fc
  .record({
    id: fc.constantFrom('ann', 'bob'),
    roles: fc.subarray(['x', 'y']),
    scopes: fc.subarray(['r', 'w']),
    claims: fc.constantFrom({}, { dept: 's' }, { dept: ['s'] }, { dept: null }),
  })
  .map((known) => principalOf({ ...known, issuer: 'i', expiresAt: null }, { address: '::1', via: 'websocket' }));

const target: fc.Arbitrary<Target> = fc.oneof(
  fc.record({ kind: fc.constantFrom<Kind>('tools', 'prompts', 'methods'), upstream: keys, name: names }),
  fc.record({ kind: fc.constant<Kind>('resources'), upstream: keys, name: uris }),
);
const call = fc.constantFrom('{}', '{"force":true}', '{"n":3}', '{"force":1,"n":"q"}', '[]', 'no json');

function grants(policy: readonly PolicyRule[], principal: Principal): Grants {
  const result = compilePolicy(policy, 'jwt');
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.policy.grants(principal);
}

const called = (of: Target, text: string): Target => ({ ...of, arguments: { text } });

describe('whatever the rules', () => {
  it('deleting an allow rule never adds a permission, and a deny added never does', () => {
    fc.assert(
      fc.property(rules, allow, deny, principals, target, call, (some, more, less, who, what, text) => {
        const asked = called(what, text);
        const before = grants(some, who).decide(asked).effect;
        const wider = grants([...some, more], who).decide(asked).effect;
        const tighter = grants([less, ...some], who).decide(asked).effect;
        expect(before === 'allow' && wider !== 'allow').toBe(false);
        expect(tighter === 'allow' && before !== 'allow').toBe(false);
      }),
    );
  });

  it('a deny that matches wins over any allow', () => {
    fc.assert(
      fc.property(rules, principals, target, call, (some, who, what, text) => {
        const closed: PolicyRule = { deny: { tools: ['**'], prompts: ['**'], methods: ['**'], resources: ['**'] } };
        expect(grants([...some, closed], who).decide(called(what, text)).effect).toBe('deny');
      }),
    );
  });

  it('nothing is allowed without an allow rule', () => {
    fc.assert(
      fc.property(fc.array(deny), principals, target, call, (denies, who, what, text) => {
        expect(grants(denies, who).decide(called(what, text)).effect).toBe('deny');
      }),
    );
  });

  it('what is denied in a list is denied at the call, what is allowed there is allowed, and a call never depends', () => {
    fc.assert(
      fc.property(rules, principals, target, call, (some, who, what, text) => {
        const held = grants(some, who);
        const listed = held.decide(what);
        const decided = held.decide(called(what, text));
        expect(decided.effect).not.toBe('depends');
        expect(listed.effect === 'depends' || listed.effect === decided.effect).toBe(true);
        expect(listed.effect === 'depends' && !held.readsArguments).toBe(false);
      }),
    );
  });

  it('equal keys decide equally', () => {
    fc.assert(
      fc.property(rules, principals, principals, target, call, (some, one, other, what, text) => {
        const [first, second] = [grants(some, one), grants(some, other)];
        fc.pre(first.key === second.key);
        expect(first.decide(called(what, text))).toEqual(second.decide(called(what, text)));
      }),
    );
  });

  it('sharing between principals changes nothing', () => {
    fc.assert(
      fc.property(rules, fc.array(principals, { maxLength: 4 }), target, call, (some, everyone, what, text) => {
        const result = compilePolicy(some, 'jwt');
        const shared = everyone.map((who) => result.ok && result.policy.grants(who).decide(called(what, text)));
        expect(shared).toEqual(everyone.map((who) => grants(some, who).decide(called(what, text))));
      }),
    );
  });
});
