import { describe, expect, it } from 'vitest';
import { type Identity, principalOf } from '../../src/auth/principal.ts';
import { compilePolicy, type Target } from '../../src/policy/access.ts';
import type { PolicyRule } from '../../src/policy/rule.ts';

const ALL = { tools: ['**'], prompts: ['**'], resources: ['**'], methods: ['**'] };
const FIND: Target = { kind: 'tools', upstream: 'search', name: 'find' };
const call = (text: string): Target => ({ ...FIND, arguments: { text } });

function held(rules: readonly PolicyRule[], identity: Partial<Identity> = {}, address = '192.0.2.1') {
  const errors: string[] = [];
  const result = compilePolicy(rules, 'jwt', { onError: (effect) => errors.push(effect) });
  if (!result.ok) throw new Error(result.problems.join('\n'));
  const base = { issuer: 'https://idp/', id: 'ann', roles: ['dev'], scopes: ['read'], claims: {}, expiresAt: null };
  const grants = result.policy.grants(principalOf({ ...base, ...identity }, { address, via: 'websocket' }));
  return { grants, errors, decide: (target: Target) => grants.decide(target) };
}

const allowing = (when: string, identity?: Partial<Identity>) => held([{ when, allow: ALL }], identity);
const denying = (when: string, identity?: Partial<Identity>) => held([{ allow: ALL }, { when, deny: ALL }], identity);

describe('an expression over the principal', () => {
  const claims = { dept: 'hr', level: 7, big: 2 ** 53, rate: 1.5, org: { id: 'x' }, tags: ['a', 1], gone: null };

  it.each([
    '"dev" in principal.roles && principal.scopes.exists(s, s == "read")',
    'principal.issuer == "https://idp/" && principal.id == "ann"',
    'principal.address.startsWith("192.0.2.") && principal.via == "websocket"',
    'principal.claims.dept == "hr" && principal.claims["level"] > 6 && principal.claims.level % 2 == 1',
    'principal.claims.org.id == "x" && "a" in principal.claims.tags && 1 in principal.claims.tags',
    'principal.claims.rate == 1.5 && principal.claims.gone == null',
    'has(principal.claims.dept) && !has(principal.claims.constructor) && !has(principal.claims.nothing)',
    'principal.claims.big == 9007199254740992.0',
  ])('%s holds', (when) => {
    const policy = allowing(when, { claims });
    expect(policy.decide(FIND)).toEqual({ effect: 'allow', rule: '0' });
    expect(policy.errors).toEqual([]);
  });

  it('is settled once: equal outcomes have equal keys, whatever else the principals hold', () => {
    const keys = ['ann', 'amy', 'bob'].map((id) => allowing('principal.id.startsWith("a")', { id }).grants.key);
    expect(keys[0]).toBe(keys[1]);
    expect(keys[0]).not.toBe(keys[2]);
  });

  it('that fails denies in a deny rule, does not match in an allow rule, and is reported', () => {
    const denied = denying('principal.claims.level > 5');
    const failed = (rule: string, effect: string) => ({ failed: [{ rule, effect }] });
    expect(denied.decide(FIND)).toEqual({ effect: 'deny', rule: '1', ...failed('1', 'deny') });
    expect(denied.errors).toEqual(['deny']);
    const allowed = allowing('principal.claims.level > 5', { claims: { level: 'high' } });
    expect(allowed.decide(FIND)).toEqual({ effect: 'deny', rule: 'default', ...failed('0', 'allow') });
    expect(allowed.errors).toEqual(['allow']);
  });

  it('is joined with the other conditions', () => {
    expect(held([{ roles: ['ops'], when: 'true', allow: ALL }]).decide(FIND).effect).toBe('deny');
  });
});

describe('an expression over the target', () => {
  it('sees kind, upstream, name and uri', () => {
    const policy = allowing(
      'target.kind + " " + target.upstream + " " + target.name + " " + target.uri == "tools search find "',
    );
    expect(policy.decide(FIND).effect).toBe('allow');
    const uri = allowing('target.kind == "resources" && target.uri == "db://x" && target.name == target.uri');
    expect(uri.decide({ kind: 'resources', upstream: 's', name: 'db://x' }).effect).toBe('allow');
    expect(uri.decide(FIND).effect).toBe('deny');
  });

  it('puts into the key what it reads of the principal, and no more', () => {
    const key = (when: string, identity: Partial<Identity>, address?: string) =>
      held([{ when, allow: ALL }], identity, address).grants.key;
    const dept = 'principal.claims.dept == target.upstream';
    expect(key(dept, { claims: { dept: 'a', jti: '1' } })).toBe(
      key(dept, { claims: { dept: 'a', jti: '2' }, id: 'bob' }),
    );
    expect(key(dept, { claims: { dept: 'a' } })).not.toBe(key(dept, { claims: { dept: 'b' } }));
    expect(key(dept, { claims: { dept: null } })).not.toBe(key(dept, { claims: {} }));
    const address = 'principal.address == target.name';
    expect(key(address, {}, '::1')).not.toBe(key(address, {}, '::2'));
    const whole = 'cel.bind(p, principal, p.address == target.name || p.claims[target.name] == 1)';
    expect(key(whole, {}, '::1')).not.toBe(key(whole, {}, '::2'));
    expect(key(whole, { claims: { x: 1 } })).not.toBe(key(whole, { claims: { y: 1 } }));
    const index = 'principal.claims[target.name] == 1';
    expect(key(index, { claims: { x: 1 } })).not.toBe(key(index, { claims: { y: 1 } }));
  });

  it('is not confused by what another principal was told', () => {
    const result = compilePolicy([{ when: 'principal.id == target.name', allow: ALL }], 'jwt');
    const base = { issuer: 'i', roles: [], scopes: [], claims: {}, expiresAt: null };
    const effects = ['find', 'bob', 'find'].map((id) => {
      const principal = principalOf({ ...base, id }, { address: '::1', via: 'tcp' });
      return result.ok && result.policy.grants(principal).decide(FIND).effect;
    });
    expect(effects).toEqual(['allow', 'deny', 'allow']);
  });
});

describe('an expression over arguments', () => {
  it('depends until they are known, and says so', () => {
    const policy = denying('arguments.force == true');
    expect(policy.grants.readsArguments).toBe(true);
    expect(policy.decide(FIND)).toEqual({ effect: 'depends', rule: '1' });
    expect(policy.decide(call('{"force":true}'))).toEqual({ effect: 'deny', rule: '1' });
    expect(policy.decide(call('{"force":false}'))).toEqual({ effect: 'allow', rule: '0' });
    expect(policy.errors).toEqual([]);
  });

  it('in an allow rule likewise, and another allow settles it', () => {
    expect(allowing('arguments.n < 3').decide(FIND)).toEqual({ effect: 'depends', rule: '0' });
    expect(allowing('arguments.n < 3').decide(call('{"n":2}'))).toEqual({ effect: 'allow', rule: '0' });
    expect(allowing('arguments.n < 3').decide(call('{"n":3}'))).toEqual({ effect: 'deny', rule: 'default' });
    expect(held([{ when: 'arguments.n < 3', allow: ALL }, { allow: ALL }]).decide(FIND)).toEqual({
      effect: 'allow',
      rule: '1',
    });
  });

  it('a deny that is certain needs no arguments, and without any allow nothing depends', () => {
    const rules: PolicyRule[] = [{ allow: ALL }, { when: 'arguments.x', deny: ALL }, { deny: { tools: ['search/*'] } }];
    expect(held(rules.filter((rule) => rule.when === undefined)).decide(FIND)).toEqual({ effect: 'deny', rule: '1' });
    expect(held([{ when: 'has(arguments.x)', deny: ALL }]).decide(FIND)).toEqual({ effect: 'deny', rule: 'default' });
    const both = held([{ allow: ALL }, { when: 'has(arguments.x)', deny: ALL }, { deny: { tools: ['search/*'] } }]);
    expect(both.decide(FIND)).toEqual({ effect: 'deny', rule: '2' });
  });

  it('for kinds without arguments a deny denies and an allow does not match', () => {
    for (const kind of ['resources', 'methods'] as const) {
      const target: Target = { kind, upstream: 's', name: 'db://x' };
      expect(denying('has(arguments.x)').decide(target)).toEqual({ effect: 'deny', rule: '1' });
      expect(allowing('!has(arguments.x)').decide(target)).toEqual({ effect: 'deny', rule: 'default' });
    }
    expect(denying('has(arguments.x)').decide({ kind: 'prompts', upstream: 's', name: 'p' }).effect).toBe('depends');
  });

  it.each([
    ['a missing key', '{}'],
    ['a type that does not fit', '{"n":"many"}'],
    ['no object', '[1]'],
    ['no JSON', '{"n":'],
    ['a key twice', '{"n":1,"\\u006e":9}'],
    ['nesting without end', `{"n":1,"x":${'['.repeat(300)}${']'.repeat(300)}}`],
    ['more than 64 KiB', `{"n":1,"x":"${'x'.repeat(65_536)}"}`],
  ])('%s denies in a deny rule, does not match in an allow rule, and is reported', (_, text) => {
    const denied = denying('arguments.n > 5');
    const failed = (rule: string, effect: string) => ({ failed: [{ rule, effect }] });
    expect(denied.decide(call(text))).toEqual({ effect: 'deny', rule: '1', ...failed('1', 'deny') });
    expect(denied.errors).toEqual(['deny']);
    const allowed = allowing('arguments.n < 5');
    expect(allowed.decide(call(text))).toEqual({ effect: 'deny', rule: 'default', ...failed('0', 'allow') });
    expect(allowed.errors).toEqual(['allow']);
  });

  it('takes up to 64 KiB', () => {
    const text = `{"n":1,"x":"${'x'.repeat(65_536 - 14)}"}`;
    expect(text.length).toBe(65_536);
    expect(allowing('arguments.n < 5').decide(call(text)).effect).toBe('allow');
  });

  it('keeps integers exact', () => {
    const policy = allowing('arguments.id == 9223372036854775807 && arguments.id != 9223372036854775806');
    expect(policy.decide(call('{"id":9223372036854775807}')).effect).toBe('allow');
    expect(policy.decide(call('{"id":9223372036854775806}')).effect).toBe('deny');
  });

  it.each(['5', '5.0', '5e0', '50e-1', '0.5E1'])('%s is five, however it is written', (number) => {
    expect(denying('arguments.n == 5').decide(call(`{"n":${number}}`)).effect).toBe('deny');
    expect(denying('arguments.n in [5, 6]').decide(call(`{"n":${number}}`)).effect).toBe('deny');
    expect(denying('arguments.n > 4').decide(call(`{"n":${number}}`)).effect).toBe('deny');
  });

  it('does not inherit', () => {
    expect(denying('has(arguments.constructor) || has(arguments.__proto__)').decide(call('{}')).effect).toBe('allow');
    expect(denying('arguments["__proto__"].x == 1').decide(call('{"__proto__":{"x":1}}')).effect).toBe('deny');
  });
});

describe('at start', () => {
  const problems = (...whens: string[]) => {
    const result = compilePolicy(
      whens.map((when) => ({ when, allow: ALL })),
      'jwt',
    );
    return result.ok ? [] : result.problems;
  };

  it.each([
    ['principal.roles', 'policy[0].when: the expression must be of type bool, it is list<string>.'],
    ['principal.claims.admin', 'policy[0].when: the expression must be of type bool, it is dyn.'],
    ['principal.name == "x"', 'policy[0].when: No such key: name (at character 11).'],
    ['prinzipal.id == "x"', 'policy[0].when: Unknown variable: prinzipal (at character 1).'],
    [
      'principal.id.matches("a+")',
      'policy[0].when: matches() is not available, its cost has no bound; use startsWith, endsWith or contains.',
    ],
    [
      'true || ["a"].exists(x, x.matches("a"))',
      'policy[0].when: matches() is not available, its cost has no bound; use startsWith, endsWith or contains.',
    ],
    [
      'principal.roles.all(r, principal.scopes.exists(s, s == r))',
      'policy[0].when: a comprehension inside another is not available.',
    ],
    [
      'arguments.a.all(x, x in arguments.b)',
      'policy[0].when: "in" over arguments inside a comprehension is not available.',
    ],
    ['1 == ', 'policy[0].when: Unexpected token: EOF (at character 6).'],
    ['', 'policy[0].when: Unexpected token: EOF (at character 1).'],
  ])('%j is refused', (when, problem) => {
    expect(problems(when)).toEqual([problem]);
  });

  it.each([
    'principal.scopes.filter(s, s != "x").exists(s, s == "read")',
    'arguments.a.all(x, x in principal.roles)',
    'principal.roles.exists(target, target == "a")',
  ])('%s is not', (when) => {
    expect(problems(when)).toEqual([]);
  });

  it('every rule is looked at', () => {
    expect(problems('1', 'true', '"x"')).toHaveLength(2);
  });
});
