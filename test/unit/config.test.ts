import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { ANONYMOUS, accepted, jwtFile, warnings } from '../support/config-fixtures.ts';

describe('defaults', () => {
  test('the least file has every default of the contract', () => {
    expect(accepted(ANONYMOUS)).toEqual({
      listen: { host: '127.0.0.1', port: 8080, path: '/mcp', tls: null, tcp: null, trustedProxies: [] },
      ops: { host: '127.0.0.1', port: 9464 },
      admin: null,
      auth: {
        mode: 'anonymous',
        requiredScopes: [],
        clockTolerance: 30_000,
        maxTokenLife: 86_400_000,
        expiryGrace: 10_000,
        anonymousRoles: ['anonymous'],
        certificates: [],
      },
      origins: [],
      hosts: null,
      seal: { keys: [] },
      naming: { separator: '__', maxLength: 64 },
      mcpServers: [],
      limits: {
        maxMessage: 4_194_304,
        maxUpstreamMessage: 16_777_216,
        depth: 4000,
        handshakes: { pending: 256, perSecond: 500, perAddress: null },
        firstMessage: 10_000,
        pingInterval: 25_000,
        pongTimeout: 10_000,
        inFlight: 64,
        subscriptions: 64,
        requestsPerSecond: { rate: 100, burst: 200 },
        outbox: 16_777_216,
        slowReader: 10_000,
        bufferedTotal: { percent: 25 },
        connections: 10_000,
        connectionsPerPrincipal: 20,
        connectionsPerAddress: null,
        connectionAge: null,
        children: 64,
        childrenPerPrincipal: 8,
        childStartsPerSecond: 5,
      },
      timing: { listChangeCoalesce: 100, resumeWindow: 0, drain: { notice: 0, inFlight: 30_000, waves: 10_000 } },
      bus: null,
      log: { level: 'info' },
      audit: { sink: 'stdout', arguments: 'keys', redact: [], onOverflow: 'drop' },
    });
  });

  test('an upstream and an issuer have theirs', () => {
    const config = accepted(
      jwtFile('{ jwksUri: "https://idp.example/jwks" }', 'policy: []\nmcpServers: { files: { command: node } }\n'),
    );
    expect(config.mcpServers).toEqual([
      {
        key: 'files',
        type: 'stdio',
        command: 'node',
        args: [],
        env: {},
        cwd: '/srv',
        isolation: 'session',
        prefix: 'files',
        timeout: 120_000,
        maxTimeout: 600_000,
        startTimeout: 10_000,
        required: false,
        keepListed: 300_000,
        relist: 600_000,
        uris: null,
        maxLinks: 32,
        idle: 300_000,
        concurrency: 256,
        breaker: { failures: 5, open: 30_000, maxOpen: 300_000 },
        methods: [],
      },
    ]);
    expect(config.auth).toHaveProperty('issuers', [
      {
        issuer: 'https://idp.example',
        audience: ['https://mcp.example/mcp'],
        algorithms: ['ES256', 'RS256', 'EdDSA'],
        keys: {
          source: 'jwksUri',
          jwksUri: 'https://idp.example/jwks',
          timeout: 5_000,
          cacheMaxAge: 600_000,
          cooldown: 30_000,
          staleIfError: 86_400_000,
        },
        claims: { id: 'sub', roles: 'roles', scopes: 'scope' },
        require: {},
        roles: { map: {}, allowed: null },
      },
    ]);
  });
});

describe('values', () => {
  test('the embedded default loads without a warning', () => {
    const loaded = loadConfig('config/gateway.yaml', {});
    expect(loaded).toMatchObject({ ok: true, warnings: [] });
    expect(loaded).toHaveProperty('config.mcpServers.0.module', resolve('dist/demo/server.js'));
  });

  test('paths begin at the directory of the file', () => {
    const text = `mcpServers:
  a: { command: ./bin/a, cwd: work }
  b: { command: b, cwd: /abs }
  c: { module: ../c.js }
`;
    const config = accepted(ANONYMOUS + text, {}, '/srv/gateway');
    expect(config.mcpServers).toMatchObject([
      { command: '/srv/gateway/bin/a', cwd: '/srv/gateway/work' },
      { command: 'b', cwd: '/abs' },
      { module: '/srv/c.js' },
    ]);
    const jwt = accepted(jwtFile('{ jwksFile: keys.json }'), {}, '/srv/gateway');
    expect(jwt.auth).toHaveProperty('issuers.0.keys', { source: 'jwksFile', jwksFile: '/srv/gateway/keys.json' });
  });

  test('upstreams keep the order of the file, also when their keys are numbers', () => {
    const config = accepted(
      `${ANONYMOUS}mcpServers: { b: { command: x }, 10: { command: x }, 2: { command: x }, a: { command: x } }`,
    );
    expect(config.mcpServers.map((server) => server.key)).toEqual(['b', '10', '2', 'a']);
  });

  test('policy keeps its four forms apart', () => {
    expect(accepted(ANONYMOUS)).not.toHaveProperty('policy');
    expect(accepted(jwtFile(undefined, 'policy: null\n')).policy).toBeNull();
    expect(accepted(jwtFile(undefined, 'policy: []\n')).policy).toEqual([]);
    expect(accepted(jwtFile(undefined, 'policy: allow-authenticated\n')).policy).toBe('allow-authenticated');
    const rules = `policy:
  - { roles: [admin], scopes: [], claims: { tier: [1, gold] }, allow: { tools: ["**"] } }
  - { deny: { tools: ["*/delete_*"] }, when: 'true' }
`;
    expect(accepted(jwtFile(undefined, rules)).policy).toEqual([
      { roles: ['admin'], scopes: [], claims: { tier: [1, 'gold'] }, allow: { tools: ['**'] } },
      { deny: { tools: ['*/delete_*'] }, when: 'true' },
    ]);
  });

  test('a secret means HS256, an audience may be a claim, claims may be paths', () => {
    const text = `auth:
  mode: jwt
  resource: https://mcp.example/mcp
  issuers:
    - issuer: dev
      audience: { claim: client_id, values: [abc] }
      keys: { secret: "0123456789abcdef0123456789abcdef" }
      claims: { roles: [realm_access, roles] }
      roles: { map: { constructor: admin }, allowed: [admin] }
policy: null
`;
    expect(accepted(text).auth).toMatchObject({
      issuers: [
        {
          audience: { claim: 'client_id', values: ['abc'] },
          algorithms: ['HS256'],
          keys: { source: 'secret', secret: '0123456789abcdef0123456789abcdef' },
          claims: { id: 'sub', roles: ['realm_access', 'roles'], scopes: 'scope' },
          roles: { map: { constructor: 'admin' }, allowed: ['admin'] },
        },
      ],
    });
  });

  test('what has no effect in the mode is warned of', () => {
    expect(warnings(`auth: { mode: anonymous, resource: "https://a.example/" }`)).toEqual([
      'auth.resource has no effect in anonymous mode',
      'mcpServers names no upstream that is enabled',
    ]);
  });
});
