// biome-ignore-all lint/suspicious/noTemplateCurlyInString: substitutions are what these texts are about
import { expect, test } from 'vitest';
import { ANONYMOUS, hashOf, jwtFile } from '../support/config-fixtures.ts';

test('equal configurations have one hash, whatever the order of keys and what is left to defaults', () => {
  const a = hashOf(`${ANONYMOUS}listen: { host: 127.0.0.1, port: 1 }`);
  expect(a).toMatch(/^[0-9a-f]{12}$/);
  expect(hashOf(`listen: { port: 1 }\n${ANONYMOUS}`)).toBe(a);
  expect(hashOf(ANONYMOUS, { MCP_GW__LISTEN__PORT: '1' })).toBe(a);
  expect(hashOf(`${ANONYMOUS}listen: { port: 2 }`)).not.toBe(a);
  const required = (claims: string): string => hashOf(jwtFile(`{ jwksFile: a }\n      require: ${claims}`));
  expect(required('{ a: 1, b: 2 }')).toBe(required('{ b: 2, a: 1 }'));
  expect(required('{ a: 1, b: 2 }')).not.toBe(required('{ a: 2, b: 1 }'));
});

test('secrets take no part in it', () => {
  const servers = (secret: string): string => `${ANONYMOUS}mcpServers:
  a: { command: x, env: { T: ${secret} } }
  b: { url: "https://h/", headers: { Authorization: ${secret} } }`;
  expect(hashOf(servers('one'))).toBe(hashOf(servers('two')));
  const issuer = (letter: string): string => jwtFile(`{ secret: ${letter.repeat(32)} }`);
  expect(hashOf(issuer('a'))).toBe(hashOf(issuer('b')));
  const sealed = (letter: string): string => hashOf(`${ANONYMOUS}seal: { keys: [${letter.repeat(32)}] }`);
  expect(sealed('a')).toBe(sealed('b'));
  const substituted = `${ANONYMOUS}mcpServers: { a: { command: x, args: ["--token=\${T}"] } }`;
  expect(hashOf(substituted, { T: 'one' })).toBe(hashOf(substituted, { T: 'two' }));
});
