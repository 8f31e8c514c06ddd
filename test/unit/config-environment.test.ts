// biome-ignore-all lint/suspicious/noTemplateCurlyInString: substitutions are what these texts are about
import { expect, test } from 'vitest';
import { ANONYMOUS, accepted, problems } from '../support/config-fixtures.ts';

test('a variable overrides the file and makes the mappings it needs', () => {
  const env = {
    MCP_GW__AUTH__MODE: 'anonymous',
    MCP_GW__LISTEN__PORT: '0',
    MCP_GW__LIMITS__PING_INTERVAL: '7s',
    MCP_GW__TIMING__DRAIN__IN_FLIGHT: '1m',
    MCP_GW__AUDIT__SINK__FILE: 'audit.log',
    OTHER: 'x',
  };
  const config = accepted('limits: { pingInterval: 5s, pongTimeout: 3s }\naudit: { sink: stdout }', env);
  expect(config.listen.port).toBe(0);
  expect(config.limits).toMatchObject({ pingInterval: 7_000, pongTimeout: 3_000 });
  expect(config.timing.drain.inFlight).toBe(60_000);
  expect(config.audit.sink).toEqual({ file: '/srv/audit.log' });
});

test('a value is not substituted', () => {
  expect(problems(ANONYMOUS, { MCP_GW__LISTEN__PATH: '${P}', P: '/x' })).toEqual([
    'listen.path (from MCP_GW__LISTEN__PATH) must be a path that begins with / and has no query',
  ]);
});

test.each([
  [
    'MCP_GW__LIMITS__PING_INTERVL',
    'unknown environment variable MCP_GW__LIMITS__PING_INTERVL; did you mean MCP_GW__LIMITS__PING_INTERVAL?',
  ],
  ['MCP_GW__POLICY', 'environment variable MCP_GW__POLICY: policy can be set in the file only'],
  [
    'MCP_GW__MCP_SERVERS__A__URL',
    'environment variable MCP_GW__MCP_SERVERS__A__URL: mcpServers can be set in the file only',
  ],
  ['MCP_GW__AUTH__ISSUERS', 'environment variable MCP_GW__AUTH__ISSUERS: auth.issuers can be set in the file only'],
  ['MCP_GW__ORIGINS', 'unknown environment variable MCP_GW__ORIGINS'],
  ['MCP_GW__', 'unknown environment variable MCP_GW__'],
  ['MCP_GW__LISTEN__PORT', 'listen.port (from MCP_GW__LISTEN__PORT) must be a whole number from 0 to 65535'],
  [
    'MCP_GW__TIMING__RESUME_WINDOW',
    'timing.resumeWindow (from MCP_GW__TIMING__RESUME_WINDOW) is not acted on by this version; remove it',
  ],
])('%s is refused', (name, sentence) => {
  expect(problems(ANONYMOUS, { [name]: 'hunter2' })).toEqual([sentence]);
});

test('null switches off what null can switch off', () => {
  expect(accepted(ANONYMOUS, { MCP_GW__LIMITS__CONNECTION_AGE: 'null' }).limits.connectionAge).toBeNull();
});
