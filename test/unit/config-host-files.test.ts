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
  ['{ type: sse, url: "https://h/sse" }', 'sse'],
  ['{ url: "wss://h/mcp" }', 'ws'],
  ['{ url: "WS://h/mcp" }', 'ws'],
  ['{ type: ws, url: "ws://h/mcp" }', 'ws'],
  ['{ url: "tcp://127.0.0.1:7000" }', 'tcp'],
  ['{ url: "tcp://[::1]:7000/" }', 'tcp'],
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
  [
    '{ comand: node }',
    'mcpServers.a must hold exactly one of command, url and module; did you mean `command` by `comand`?',
  ],
  ['{ type: stdio }', 'mcpServers.a.command is required: the name or path of a program'],
  ['{ command: x, disabled: perhaps }', 'mcpServers.a.disabled must be true or false'],
  ['{ command: x, headers: {} }', 'mcpServers.a.headers does not apply to this kind of upstream; remove it'],
  ['null', 'mcpServers.a must be a mapping'],
  ['{ type: ws, url: "https://h/" }', 'mcpServers.a.url must be a ws or wss URL without user name and password'],
  ['{ url: "wss://a:b@h/" }', 'mcpServers.a.url must be a ws or wss URL without user name and password'],
  ['{ type: sse, url: "wss://h/" }', 'mcpServers.a.url must be an http or https URL without user name and password'],
  ...['tcp://127.0.0.1', 'tcp://h:7/path', 'tcp://a:b@h:7', 'tcp://h:7?x', 'tcp://h:0'].map((url) => [
    `{ url: "${url}" }`,
    'mcpServers.a.url must be a URL such as tcp://127.0.0.1:7000, with a port and nothing behind it',
  ]),
  ['{ url: "tcp://h:7", headers: {} }', 'mcpServers.a.headers does not apply to this kind of upstream; remove it'],
  [
    '{ url: "ws://h/", headers: { Sec-WebSocket-Key: x } }',
    'mcpServers.a.headers.Sec-WebSocket-Key is a header that the gateway sets itself',
  ],
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
