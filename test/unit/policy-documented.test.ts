import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Identity, principalOf } from '../../src/auth/principal.ts';
import { compilePolicy, type Kind, type Target } from '../../src/policy/access.ts';
import { compileWhen } from '../../src/policy/when.ts';
import { accepted, jwtFile } from '../support/config-fixtures.ts';
import { tableUnder } from '../support/markdown-table.ts';
import { fencesOf } from '../support/readme.ts';

const page = readFileSync('docs/policy.md', 'utf8');
const rows = (header: string) => tableUnder(page, header);

/** The policy the page shows, as a gateway would read it. */
function shown() {
  const [fence] = fencesOf(page);
  const { policy } = accepted(jwtFile(undefined, fence?.text));
  const result = compilePolicy(policy, 'jwt');
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.policy;
}

function identity(who: string): Identity {
  const [kind = '', name = '', value] = who.split(' ');
  const none = { issuer: 'i', id: 'ann', roles: [], scopes: [], claims: {}, expiresAt: null };
  const held: Readonly<Record<string, Partial<Identity>>> = {
    role: { roles: [name] },
    scope: { scopes: [name] },
    claim: { claims: { [name]: value } },
  };
  return { ...none, ...held[kind] };
}

function target(asks: string): Target {
  const [what = '', text] = asks.split(' with ');
  const [word = '', path = ''] = what.split(' ');
  const kind = (['tools', 'prompts', 'resources', 'methods'] satisfies Kind[]).find((each) => each === word);
  if (kind === undefined) throw new Error(`no kind ${word}`);
  if (kind === 'resources') return { kind, upstream: 'files', name: path, template: path.includes('{') };
  const [upstream = '', ...name] = path.split('/');
  return { kind, upstream, name: name.join('/'), ...(text === undefined ? {} : { arguments: { text } }) };
}

test.each(rows('| who | asks for | answer | rule |'))('%s: %s: %s, by rule %s', (who, asks, effect, rule) => {
  const principal = principalOf(identity(who ?? ''), { address: '::1', via: 'websocket' });
  expect(
    shown()
      .grants(principal)
      .decide(target(asks ?? '')),
  ).toMatchObject({ effect, rule });
});

test('every expression compiles, and what is said to be refused does not', () => {
  const compiles = (header: string) => rows(header).map(([text = '']) => [text, compileWhen(text).ok]);
  const good = compiles('| an expression | is true for |');
  const bad = compiles('| refused | use |');
  expect(good.length + bad.length).toBe(10);
  expect(good.filter(([, ok]) => ok !== true)).toEqual([]);
  expect(bad.filter(([, ok]) => ok !== false)).toEqual([]);
});

test.each(rows('| variable | type | what it is |'))('%s is there and of type %s', (variable, type = '') => {
  const types = new Map([
    ['string', `${variable} == ""`],
    ['list of string', `${variable} == [""]`],
    ['map', `${variable} == {"": dyn("")}`],
  ]);
  expect(compileWhen(types.get(type) ?? '')).toMatchObject({ ok: true });
});
