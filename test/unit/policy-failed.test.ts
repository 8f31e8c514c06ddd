import { describe, expect, it } from 'vitest';
import { principalOf } from '../../src/auth/principal.ts';
import { compilePolicy, type Target } from '../../src/policy/access.ts';
import type { PolicyRule } from '../../src/policy/rule.ts';

const ALL = { tools: ['**'] };
const FIND: Target = { kind: 'tools', upstream: 'search', name: 'find' };

function compiled(rules: readonly PolicyRule[]) {
  const errors: string[] = [];
  const result = compilePolicy(rules, 'jwt', { onError: (effect) => errors.push(effect) });
  if (!result.ok) throw new Error(result.problems.join('\n'));
  const { policy } = result;
  const grantsWith = (level: unknown) => {
    const identity = { issuer: 'i', id: 'ann', roles: [], scopes: [], claims: { level }, expiresAt: null };
    return policy.grants(principalOf(identity, { address: '192.0.2.1', via: 'websocket' }));
  };
  return { errors, grantsWith };
}

describe('what failed on the way to a decision', () => {
  it('is told at each decision, in the order of asking, also of what is remembered', () => {
    const { errors, grantsWith } = compiled([
      { when: 'principal.claims.level > 5', allow: ALL },
      { when: 'target.name == principal.claims.missing', allow: ALL },
      { when: 'arguments.n > 5', deny: ALL },
      { allow: ALL },
    ]);
    const grants = grantsWith('x');
    const failed = ['0', '1'].map((rule) => ({ rule, effect: 'allow' }));
    const call = (text: string) => grants.decide({ ...FIND, arguments: { text } });
    for (const _ of [1, 2]) expect(call('{"n":1}')).toEqual({ effect: 'allow', rule: '3', failed });
    expect(call('{}')).toEqual({ effect: 'deny', rule: '2', failed: [...failed, { rule: '2', effect: 'deny' }] });
    expect(call('{"n":1}')).toEqual({ effect: 'allow', rule: '3', failed });
    expect(errors).toEqual(['allow', 'allow', 'deny']);
  });

  it('is not what the decision did not need', () => {
    const { grantsWith } = compiled([
      { when: 'principal.claims.level > 5', deny: { tools: ['other/*'] } },
      { allow: ALL },
      { when: 'principal.claims.level > 5', allow: ALL },
    ]);
    expect(grantsWith('x').decide(FIND)).toEqual({ effect: 'allow', rule: '1' });
  });

  it('is of those it failed for alone', () => {
    const { grantsWith } = compiled([{ when: 'principal.claims.level > 5', deny: ALL }, { allow: ALL }]);
    expect(['x', 9, 1].map((level) => grantsWith(level).decide(FIND))).toEqual([
      { effect: 'deny', rule: '0', failed: [{ rule: '0', effect: 'deny' }] },
      { effect: 'deny', rule: '0' },
      { effect: 'allow', rule: '1' },
    ]);
  });
});
