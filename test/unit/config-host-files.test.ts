// biome-ignore-all lint/suspicious/noTemplateCurlyInString: substitutions are what these texts are about
import { expect, test } from 'vitest';
import { ANONYMOUS, accepted, problems, warnings } from '../support/config-fixtures.ts';

const servers = (text: string): string => `${ANONYMOUS}mcpServers:\n${text}`;

test.each([
  ['{ command: x }', 'stdio'],
  ['{ type: stdio, command: x }', 'stdio'],
  ['{ transport: stdio, command: x }', 'stdio'],
  ['{ url: "https://h/mcp" }', 'http'],
  ['{ type: http, url: "http://h/mcp" }', 'http'],
  ['{ type: streamable-http, url: "https://h/mcp" }', 'http'],
  ['{ type: streamableHttp, url: "https://h/mcp" }', 'http'],
  ['{ transport: streamable-http, type: http, url: "https://h/mcp" }', 'http'],
  ['{ module: ./x.js }', 'module'],
])('%s is of type %s', (entry, type) => {
  expect(accepted(servers(`  a: ${entry}`)).mcpServers).toMatchObject([{ key: 'a', type }]);
});

test.each([
  [
    '{ type: carrier-pigeon, command: x }',
    'mcpServers.a.type must be one of stdio, http, streamable-http, streamableHttp, module, sse, ws, tcp',
  ],
  ['{ type: stdio, transport: http, command: x }', 'mcpServers.a.transport says something else than type'],
  ['{ command: x, url: "https://h/" }', 'mcpServers.a must hold exactly one of command, url and module'],
  ['{}', 'mcpServers.a must hold exactly one of command, url and module'],
  ['{ type: stdio }', 'mcpServers.a.command is required: the name or path of a program'],
  ['{ command: x, disabled: perhaps }', 'mcpServers.a.disabled must be true or false'],
  ['{ command: x, headers: {} }', 'mcpServers.a.headers does not apply to this kind of upstream; remove it'],
  ['null', 'mcpServers.a must be a mapping'],
  ['{ type: sse, url: "https://h/" }', 'mcpServers.a is of type sse, which is not in this version; remove it'],
  ['{ url: "wss://h/" }', 'mcpServers.a is of type ws, which is not in this version; remove it'],
  ['{ url: "tcp://127.0.0.1:7" }', 'mcpServers.a is of type tcp, which is not in this version; remove it'],
])('%s is refused', (entry, sentence) => {
  expect(problems(servers(`  a: ${entry}`))).toEqual([sentence]);
});

test('a disabled entry is left out whatever is in it', () => {
  const text = servers(
    '  a: { type: sse, colour: red, env: { T: "${UNSET}" }, disabled: true }\n  b: { enabled: false }\n  c: { command: x, disabled: false }',
  );
  expect(accepted(text).mcpServers.map((server) => server.key)).toEqual(['c']);
});

test('keys of hosts are warned of and left out', () => {
  const text = servers('  a: { command: x, autoApprove: [t], disabledTools: [u] }');
  expect(warnings(text)).toEqual([
    'mcpServers.a.autoApprove is a key of MCP hosts and has no effect here; policy decides what callers reach',
    'mcpServers.a.disabledTools is a key of MCP hosts and has no effect here; policy decides what callers reach',
  ]);
  expect(accepted(text).mcpServers[0]).not.toHaveProperty('autoApprove');
});
