import { expect, test } from 'vitest';
import { knownKeys } from '../../src/config/known-keys.ts';
import { UNBUILT } from '../../src/config/unbuilt.ts';
import { configurationPage, documentedKeys } from '../support/configuration-page.ts';

test('docs/configuration.md is what the schema says', async () => {
  await expect(configurationPage()).toMatchFileSnapshot('../../docs/configuration.md');
});

test('every documented key has a sentence', () => {
  const silent = documentedKeys().filter((key) => !key.sentence?.endsWith('.'));
  expect(silent.map((key) => key.path.join('.'))).toEqual([]);
});

test('every refused key is a known one', () => {
  const known = new Set(knownKeys().map((key) => key.path.join('.')));
  const rows = UNBUILT.map((row) => row.key);
  expect(rows.filter((key) => !known.has(key))).toEqual([]);
});
