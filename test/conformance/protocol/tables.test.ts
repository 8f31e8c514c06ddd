import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { knownKeys } from '../../../src/config/known-keys.ts';
import { UNBUILT } from '../../../src/config/unbuilt.ts';
import { CLOSE_CODES } from '../../../src/protocol/close-codes.ts';
import { HANDSHAKE_VERSIONS, MODERN_VERSIONS } from '../../../src/protocol/era.ts';
import { tableUnder } from '../../support/markdown-table.ts';

const page = readFileSync(new URL('../../../docs/PROTOCOL.md', import.meta.url), 'utf8');

test('the close codes are those of the code, with what the client does', () => {
  const rows = tableUnder(page, '| code | name | when | what the client does |');
  const coded = Object.entries(CLOSE_CODES).map(([name, { code, client }]) => [`${code}`, name, client]);
  expect(rows.map(([code, name, _when, client]) => [code, name, client])).toEqual(coded);
  expect(rows.filter(([_code, _name, when]) => when === '')).toEqual([]);
});

test('the revisions are those the gateway speaks', () => {
  expect(tableUnder(page, '| revision |').flat()).toEqual([...HANDSHAKE_VERSIONS]);
  expect(tableUnder(page, '| modern revision |').flat()).toEqual([...MODERN_VERSIONS]);
});

test('the limits have the defaults of the configuration, and are acted on', () => {
  const rows = tableUnder(page, '| key | default | beyond it |');
  const defaults = new Map(knownKeys().map(({ path, fallback }) => [path.join('.'), fallback]));
  expect(rows.map(([key = '']) => [key, defaults.get(key)])).toEqual(rows.map(([key, fallback]) => [key, fallback]));
  const unbuilt = UNBUILT.map(({ key }) => key);
  expect(rows.filter(([key = '']) => unbuilt.includes(key))).toEqual([]);
});
