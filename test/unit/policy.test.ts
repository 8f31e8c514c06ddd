import { describe, expect, it } from 'vitest';
import { type Identity, type Principal, principalOf } from '../../src/auth/principal.ts';
import { compilePolicy, type Decision, type Target } from '../../src/policy/access.ts';
import type { PolicyRule, PolicySource } from '../../src/policy/rule.ts';

const ALLOWED = (rule: string): Decision => ({ effect: 'allow', rule });
const DENIED = (rule: string): Decision => ({ effect: 'deny', rule });

function caller(identity: Partial<Identity> = {}): Principal {
  const base = { issuer: 'https://idp.example.com/', id: 'ann', roles: [], scopes: [], claims: {}, expiresAt: null };
  return principalOf({ ...base, ...identity }, { address: '192.0.2.1', via: 'websocket' });
}

function grants(policy: PolicySource, identity: Partial<Identity> = {}, mode: 'jwt' | 'anonymous' = 'jwt') {
  const result = compilePolicy(policy, mode);
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.policy.grants(caller(identity));
}

const tool = (upstream: string, name: string): Target => ({ kind: 'tools', upstream, name });
const resource = (upstream: string, name: string): Target => ({ kind: 'resources', upstream, name });
const ask = (policy: PolicySource, target: Target, identity?: Partial<Identity>) =>
  grants(policy, identity).decide(target);

describe('without rules', () => {
  const target = tool('search', 'find');

  it('jwt: null and an empty list deny all, the word opens', () => {
    expect(ask(null, target)).toEqual(DENIED('default'));
    expect(ask([], target)).toEqual(DENIED('default'));
    expect(ask('allow-authenticated', target)).toEqual(ALLOWED('default'));
    expect(ask('allow-authenticated', resource('files', 'file:///a/../b'))).toEqual(ALLOWED('default'));
  });

  it('anonymous: an absent policy is open, a present one is applied', () => {
    expect(grants(undefined, {}, 'anonymous').decide(target)).toEqual(ALLOWED('default'));
    expect(grants(null, {}, 'anonymous').decide(target)).toEqual(DENIED('default'));
    expect(grants([], {}, 'anonymous').decide(target)).toEqual(DENIED('default'));
    const rules: PolicyRule[] = [{ roles: ['anonymous'], allow: { tools: ['search/*'] } }];
    expect(grants(rules, { roles: ['anonymous'] }, 'anonymous').decide(target)).toEqual(ALLOWED('0'));
  });

  it('jwt: an absent policy, which the configuration refuses, would deny', () => {
    expect(ask(undefined, target)).toEqual(DENIED('default'));
  });
});

describe('the order of decision', () => {
  const policy: PolicyRule[] = [
    { allow: { tools: ['**'] } },
    { roles: ['intern'], deny: { tools: ['*/delete_*'] } },
    { allow: { tools: ['files/delete_tmp'] } },
  ];

  it('any allow allows, and the first that matches is named', () => {
    expect(ask(policy, tool('files', 'delete_tmp'))).toEqual(ALLOWED('0'));
  });

  it('any deny denies, whatever allows', () => {
    expect(ask(policy, tool('files', 'delete_tmp'), { roles: ['intern'] })).toEqual(DENIED('1'));
  });

  it('a kind that no rule names is denied', () => {
    expect(ask(policy, { kind: 'prompts', upstream: 'files', name: 'x' })).toEqual(DENIED('default'));
    expect(ask(policy, { kind: 'methods', upstream: 'files', name: 'x' })).toEqual(DENIED('default'));
    expect(ask(policy, resource('files', 'file:///x'))).toEqual(DENIED('default'));
  });
});

describe('whom a rule is about', () => {
  const rule = (conditions: Omit<PolicyRule, 'allow' | 'deny'>): PolicyRule[] => [
    { ...conditions, allow: { tools: ['**'] } },
  ];
  const effect = (conditions: Omit<PolicyRule, 'allow' | 'deny'>, identity: Partial<Identity>) =>
    ask(rule(conditions), tool('s', 't'), identity).effect;

  it('any role, exactly spelled', () => {
    expect(effect({ roles: ['a', 'b'] }, { roles: ['b', 'c'] })).toBe('allow');
    expect(effect({ roles: ['a', 'b'] }, { roles: ['c', 'A'] })).toBe('deny');
  });

  it('all scopes', () => {
    expect(effect({ scopes: ['r', 'w'] }, { scopes: ['w', 'r', 'x'] })).toBe('allow');
    expect(effect({ scopes: ['r', 'w'] }, { scopes: ['r'] })).toBe('deny');
    expect(effect({ scopes: [] }, {})).toBe('allow');
  });

  it.each([
    [{ dept: 'hr' }, { dept: 'hr' }, 'allow'],
    [{ dept: 'hr' }, { dept: 'HR' }, 'deny'],
    [{ dept: ['it', 'hr'] }, { dept: 'hr' }, 'allow'],
    [{ groups: 'hr' }, { groups: ['it', 'hr'] }, 'allow'],
    [{ groups: ['a', 'hr'] }, { groups: ['it', 'hr'] }, 'allow'],
    [{ groups: ['a', 'b'] }, { groups: ['it', 'hr'] }, 'deny'],
    [{ level: 5 }, { level: '5' }, 'deny'],
    [{ level: 5 }, { level: 5 }, 'allow'],
    [{ verified: true }, {}, 'deny'],
    [{ gone: null }, {}, 'deny'],
    [{ gone: null }, { gone: null }, 'allow'],
    [{ org: { id: 1, tags: ['x'] } }, { org: { tags: ['x'], id: 1 } }, 'allow'],
    [{ org: { id: 1 } }, { org: { id: 1, more: 2 } }, 'deny'],
    [JSON.parse('{"__proto__":{}}'), {}, 'deny'],
    [{ dept: 'hr', level: 5 }, { dept: 'hr', level: 6 }, 'deny'],
  ])('claims %j on %j: %s', (claims, held, expected) => {
    expect(effect({ claims }, { claims: held })).toBe(expected);
  });

  it('roles, scopes, claims and upstreams together', () => {
    const all = { roles: ['a'], scopes: ['s'], claims: { c: 1 } };
    const policy: PolicyRule[] = [{ ...all, allow: { upstreams: ['search'], tools: ['**'] } }];
    const full = { roles: ['a'], scopes: ['s'], claims: { c: 1 } };
    expect(ask(policy, tool('search', 'x'), full).effect).toBe('allow');
    expect(ask(policy, tool('files', 'x'), full).effect).toBe('deny');
    expect(ask(policy, tool('search', 'x'), { ...full, roles: [] }).effect).toBe('deny');
    expect(ask(policy, tool('search', 'x'), { ...full, scopes: [] }).effect).toBe('deny');
    expect(ask(policy, tool('search', 'x'), { ...full, claims: {} }).effect).toBe('deny');
  });
});

describe('what a rule is about', () => {
  it('is the upstream key and the original name', () => {
    const policy: PolicyRule[] = [{ allow: { tools: ['search/*'], prompts: ['*/hello'], methods: ['search/acme/*'] } }];
    expect(ask(policy, tool('search', 'find')).effect).toBe('allow');
    expect(ask(policy, tool('files', 'search/find')).effect).toBe('deny');
    expect(ask(policy, { kind: 'prompts', upstream: 'any', name: 'hello' }).effect).toBe('allow');
    expect(ask(policy, { kind: 'methods', upstream: 'search', name: 'acme/do' }).effect).toBe('allow');
    expect(ask(policy, { kind: 'methods', upstream: 'search', name: 'other/do' }).effect).toBe('deny');
  });

  it('a slash in a name steps into no allowed segment and out of no denied one', () => {
    expect(ask([{ allow: { tools: ['search/*'] } }], tool('search', 'find/all')).effect).toBe('deny');
    const denies: PolicyRule[] = [{ allow: { tools: ['**'] } }, { deny: { tools: ['*/delete_*', 'mail/a/send*'] } }];
    for (const name of ['delete_a/b', 'x/delete_a', 'x/y/delete_', 'DELETE_A', 'delete_/', '/delete_a']) {
      expect(ask(denies, tool('files', name))).toEqual(DENIED('1'));
    }
    expect(ask(denies, tool('mail', 'a/send/now'))).toEqual(DENIED('1'));
    expect(ask(denies, tool('mail', 'undelete'))).toEqual(ALLOWED('0'));
  });

  it('allow globs do not fold case', () => {
    expect(ask([{ allow: { tools: ['search/find'] } }], tool('search', 'Find')).effect).toBe('deny');
  });

  it('deny globs fold case, upstreams too', () => {
    const policy: PolicyRule[] = [
      { allow: { tools: ['**'] } },
      { deny: { upstreams: ['SEARCH'], tools: ['**/Kill'] } },
    ];
    expect(ask(policy, tool('search', '\u212aILL'))).toEqual(DENIED('1'));
  });

  it('names like members of Object.prototype are names', () => {
    expect(ask([{ allow: { tools: ['s/x'] } }], tool('s', 'constructor'))).toEqual(DENIED('default'));
    expect(ask([{ allow: { tools: ['s/__proto__'] } }], tool('s', '__proto__'))).toEqual(ALLOWED('0'));
  });
});

describe('resources', () => {
  const docs: PolicyRule[] = [{ allow: { upstreams: ['files'], resources: ['file:///docs/**'] } }];
  const everything: PolicyRule[] = [{ allow: { resources: ['**'] } }];

  it('go by URI, narrowed by upstream', () => {
    expect(ask(docs, resource('files', 'file:///docs/a/b.md'))).toEqual(ALLOWED('0'));
    expect(ask(docs, resource('other', 'file:///docs/a/b.md'))).toEqual(DENIED('default'));
    expect(ask(docs, resource('files', 'file:///etc/passwd'))).toEqual(DENIED('default'));
  });

  it('templates go by their text, each expansion again', () => {
    const template = { ...resource('files', 'file:///docs/{name}'), template: true };
    const held = grants(docs);
    expect(held.decide(template)).toEqual(ALLOWED('0'));
    expect(held.decide({ ...template, template: false })).toEqual(DENIED('default'));
    expect(ask(docs, { ...template, name: 'file:///docs/../{name}' })).toEqual(DENIED('default'));
    expect(ask(docs, resource('files', 'file:///docs/{name}'))).toEqual(DENIED('default'));
  });

  it.each([
    'file:///docs/../etc/passwd',
    'file:///docs/%2e%2e/etc',
    'file:///docs/a%2Fb',
    'file:///docs/a\\b',
    'file:///docs/ä',
  ])('%s is allowed by ** alone', (uri) => {
    expect(ask(docs, resource('files', uri))).toEqual(DENIED('default'));
    expect(ask(everything, resource('files', uri))).toEqual(ALLOWED('0'));
  });

  it('no spelling steps around a deny', () => {
    const policy: PolicyRule[] = [...everything, { deny: { resources: ['file:///etc/*'] } }];
    for (const uri of [
      'file:///etc/passwd',
      'FILE:///ETC/passwd',
      'file:///x/../etc/p',
      'file:///%65tc/p',
      'file:////etc/p',
      '\tfile:///etc/p',
    ]) {
      expect(ask(policy, resource('files', uri))).toEqual(DENIED('1'));
    }
    expect(ask(policy, resource('files', 'file:///etc/a/b'))).toEqual(ALLOWED('0'));
    expect(ask(policy, resource('db', 'db://rows/ä'))).toEqual(ALLOWED('0'));
  });
});

describe('grants', () => {
  const policy: PolicyRule[] = [
    { roles: ['a'], allow: { tools: ['x/*'] } },
    { roles: ['b'], allow: { tools: ['y/*'] } },
  ];

  it('have equal keys where the same rules apply, whoever calls', () => {
    expect(grants(policy, { id: 'ann', roles: ['a'] }).key).toBe(grants(policy, { id: 'bob', roles: ['z', 'a'] }).key);
    expect(grants(policy, { roles: ['a'] }).key).not.toBe(grants(policy, { roles: ['b'] }).key);
    expect(grants(policy, { roles: ['a', 'b'] }).key).not.toBe(grants(policy, { roles: ['a'] }).key);
  });

  it('decide the same the second time, also for names too long to be remembered', () => {
    const held = grants(policy, { roles: ['a'] });
    for (const name of ['t', 't'.repeat(5_000)]) {
      expect([held.decide(tool('x', name)), held.decide(tool('x', name))]).toEqual([ALLOWED('0'), ALLOWED('0')]);
      expect(held.decide(tool('y', name))).toEqual(DENIED('default'));
    }
    expect(held.decide({ kind: 'prompts', upstream: 'x', name: 't' })).toEqual(DENIED('default'));
  });

  it('of one principal say nothing about another', () => {
    const result = compilePolicy(policy, 'jwt');
    expect(result.ok).toBe(true);
    const decisions = ['a', 'b', 'a'].map(
      (role) => result.ok && result.policy.grants(caller({ roles: [role] })).decide(tool('x', 't')),
    );
    expect(decisions).toEqual([ALLOWED('0'), DENIED('default'), ALLOWED('0')]);
  });

  it('do not read arguments where no rule does', () => {
    expect(grants(policy, { roles: ['a'] }).readsArguments).toBe(false);
  });
});

it('rules that could never match are problems, all of them named', () => {
  expect(compilePolicy([{ deny: { upstreams: ['x'] } }, { roles: [], allow: { tools: ['**'] } }], 'jwt')).toEqual({
    ok: false,
    problems: [
      'policy[0].deny names none of tools, prompts, resources, methods, so the rule would match nothing.',
      'policy[1].roles is empty, so the rule would match nobody; name a role or leave it out.',
    ],
  });
});
