// biome-ignore-all lint/suspicious/noTemplateCurlyInString: substitutions are what these texts are about
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { knownKeys } from '../../src/config/known-keys.ts';
import { loadConfig } from '../../src/config/load.ts';
import { nearest } from '../../src/config/nearest.ts';
import { ANONYMOUS, accepted, jwtFile, problems } from '../support/config-fixtures.ts';

const DURATION = 'a positive duration such as 500ms, 10s, 5m, 24h or 30d';
const SECRET = '{ secret: "0123456789abcdef0123456789abcdef" }';

describe('one mistake, one sentence', () => {
  test.each([
    ['{}', 'auth.mode is required: one of jwt, anonymous'],
    ['', 'auth.mode is required: one of jwt, anonymous'],
    ['- 1', 'the configuration must be a mapping of keys to values'],
    ['auth: { mode: basic }', 'auth.mode must be one of jwt, anonymous'],
    ['auth: 5', 'auth must be a mapping'],
    [`${ANONYMOUS}limts: { inFlight: 3 }`, 'unknown key `limts`; did you mean `limits`?'],
    [`${ANONYMOUS}limits: { inFligth: 3 }`, 'unknown key `limits.inFligth`; did you mean `limits.inFlight`?'],
    [`${ANONYMOUS}pingInterval: 3s`, 'unknown key `pingInterval`; did you mean `limits.pingInterval`?'],
    [`${ANONYMOUS}zzz: 3s`, 'unknown key `zzz`'],
    [`${ANONYMOUS}__proto__: { a: 1 }`, '__proto__ is not a key; remove it'],
    [`${ANONYMOUS}constructor: 1`, 'unknown key `constructor`'],
    [`${ANONYMOUS}limits: { pingInterval: 25 }`, `limits.pingInterval must be ${DURATION}`],
    [`${ANONYMOUS}limits: { pingInterval: 0s }`, `limits.pingInterval must be ${DURATION}`],
    [`${ANONYMOUS}limits: { pingInterval: 9999999999999999d }`, `limits.pingInterval must be ${DURATION}`],
    [
      `${ANONYMOUS}limits: { maxMessage: 1GiB }`,
      'limits.maxMessage must be a size from 1B to 256MiB such as 64KiB or 4MiB',
    ],
    [`${ANONYMOUS}limits: { inFlight: 1.5 }`, 'limits.inFlight must be a whole number of at least 1'],
    [
      `${ANONYMOUS}origins: [https://a.example/]`,
      'origins[0] must be an origin as a browser sends it, such as https://app.example.com',
    ],
    [`${ANONYMOUS}listen: { host: 0.0.0.0 }`, 'auth.mode anonymous needs listen.host to be a loopback address'],
    [
      `${ANONYMOUS}policy: allow-authenticated`,
      'policy must not be allow-authenticated in anonymous mode, where nobody is; leave it out to allow everything',
    ],
    [`${ANONYMOUS}policy: [{ allow: { tools: x } }]`, 'policy[0].allow.tools must be a list'],
    [
      `${ANONYMOUS}policy: [{ allow: { upstreams: [x] } }]`,
      'policy[0].allow matches nothing: name tools, resources, prompts or methods',
    ],
    [
      `${ANONYMOUS}policy: [{ roles: [], allow: { tools: [x] } }]`,
      'policy[0].roles must name a role; leave it out for every role',
    ],
    [`${ANONYMOUS}policy: [{ roles: [a] }]`, 'policy[0] must have exactly one of allow and deny'],
    [
      `${ANONYMOUS}policy: [{ allow: { tools: [x] }, deny: { tools: [x] } }]`,
      'policy[0] must have exactly one of allow and deny',
    ],
    [`${ANONYMOUS}mcpServers: { A_b: { command: x } }`, 'mcpServers.A_b must be named by 1 to 24 of a-z, 0-9 and -'],
    [
      `${ANONYMOUS}mcpServers: { a: { command: x }, b: { command: x, prefix: a } }`,
      'mcpServers.b has the prefix of mcpServers.a; give one of them another prefix',
    ],
    [
      `${ANONYMOUS}mcpServers: { a: { url: "https://user:hunter2@h/" } }`,
      'mcpServers.a.url must be an http or https URL without user name and password',
    ],
    [
      `${ANONYMOUS}mcpServers: { a: { url: "https://h/", headers: { Host: x } } }`,
      'mcpServers.a.headers.Host is a header that the gateway sets itself',
    ],
    ...['MCP-Method', 'mcp-name', 'Mcp-Param-Region'].map((name): [string, string] => [
      `${ANONYMOUS}mcpServers: { a: { url: "https://h/", headers: { ${name}: x } } }`,
      `mcpServers.a.headers.${name} is a header that the gateway sets itself`,
    ]),
    [
      `${ANONYMOUS}mcpServers: { a: { url: "https://h/", headers: { X: "a\\nb" } } }`,
      'mcpServers.a.headers.X must be text without line breaks that a header can carry',
    ],
    [
      `${ANONYMOUS}mcpServers: { a: { command: x, timeout: 900s } }`,
      'mcpServers.a.maxTimeout must be at least timeout',
    ],
    [
      `${ANONYMOUS}mcpServers: { a: { command: x, methods: [acme/*, tools/*] } }`,
      "mcpServers.a.methods[1] must be a glob that matches no method of MCP's own",
    ],
    [
      jwtFile(undefined, ''),
      'policy is required in jwt mode: a list of rules, null to deny all, or the word allow-authenticated',
    ],
    [jwtFile('{}'), 'auth.issuers[0].keys must hold exactly one of jwksUri, discovery: true, jwksFile, secret'],
    [
      jwtFile('{ jwksFile: a, discovery: true }'),
      'auth.issuers[0].keys must hold exactly one of jwksUri, discovery: true, jwksFile, secret',
    ],
    [jwtFile('{ jwksFile: a, timeout: 5s }'), 'auth.issuers[0].keys.timeout does not apply to jwksFile; remove it'],
    [
      jwtFile('{ jwksUri: "http://idp.example/jwks" }'),
      'auth.issuers[0].keys.jwksUri must be an https URL, or http to loopback',
    ],
    [
      `${ANONYMOUS}seal: { keys: [0123456789abcdef0123456789abcdef, hunter2] }`,
      'seal.keys[1] must be text of at least 32 bytes',
    ],
    [`${ANONYMOUS}seal: { keys: hunter2 }`, 'seal.keys must be a list'],
    [jwtFile('{ secret: hunter2 }'), 'auth.issuers[0].keys.secret must be text of at least 32 bytes'],
    [
      jwtFile(`${SECRET}\n      algorithms: [HS256, RS256]`),
      'auth.issuers[0].algorithms must be [HS256] with a secret',
    ],
    [
      jwtFile('{ jwksFile: a }\n      algorithms: [HS256]'),
      'auth.issuers[0].algorithms must not name HS256 without a secret',
    ],
    [
      jwtFile(`${SECRET}\n    - { issuer: "https://idp.example", keys: ${SECRET} }`),
      'auth.issuers[1].issuer is the issuer of an earlier entry',
    ],
    [
      jwtFile(SECRET, 'policy: null\nlisten: { host: 0.0.0.0 }'),
      'auth.issuers[0].keys.secret needs listen.host to be a loopback address',
    ],
    [
      'auth: { mode: jwt, issuers: [{ issuer: a, keys: { jwksFile: a } }] }\npolicy: null',
      'auth.resource is required in jwt mode',
    ],
    [
      'auth: { mode: jwt, resource: "https://a.example/" }\npolicy: null',
      'auth.issuers must name at least one issuer in jwt mode',
    ],
  ])('%s', (text, sentence) => {
    expect(problems(text)).toEqual([sentence]);
  });

  test('a value that could not be had is told once', () => {
    expect(problems(jwtFile('{ secret: "${UNSET}" }'))).toEqual([
      'auth.issuers[0].keys.secret needs the environment variable UNSET, which is not set',
    ]);
  });

  test.each([
    ['tsl', 'tls'],
    ['TLS', 'tls'],
    ['socke', 'socket'],
    ['x', undefined],
    ['certificate', undefined],
  ])('the key nearest to %s is %s', (word, key) => {
    expect(nearest(word, ['tcp', 'tls', 'socket'])).toBe(key);
  });

  test('mistakes are told together', () => {
    expect(problems('limits: { depth: x }\naudit: { sinc: off }')).toEqual([
      'auth.mode is required: one of jwt, anonymous',
      'limits.depth must be a whole number of at least 1',
      'unknown key `audit.sinc`; did you mean `audit.sink`?',
    ]);
  });

  test('an unreadable file is one sentence', () => {
    expect(loadConfig('/nowhere/gateway.yaml', {})).toEqual({
      ok: false,
      problems: ['the configuration file /nowhere/gateway.yaml cannot be read (ENOENT)'],
    });
  });
});

describe('YAML', () => {
  test.each([
    ['a: 1\na: 2', 'line 2, column 1: a key is given twice'],
    ['a: "b', 'line 1, column 6: a quote, bracket, colon or comma is missing'],
    ['a:\n\tb: 1', 'line 2, column 1: a tab is used for indentation'],
    ['a: 1\n---\nb: 1', 'line 2, column 1: the file holds more than one document'],
    ['a: !secret hunter2', 'line 1, column 4: a tag is not known, or does not fit its value'],
    ['a: *hunter2', 'line 1, column 4: an alias names no anchor'],
    ['{ a: 1 } hunter2', 'line 1, column 10: something stands where nothing was expected'],
  ])('%j', (text, place) => {
    expect(problems(text)).toEqual([`/srv/gateway.yaml: ${place}`]);
  });

  test('aliases multiply nothing beyond a bound, and hold nothing that holds them', () => {
    const levels = Array.from(
      { length: 9 },
      (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level},`.repeat(9)}]`,
    );
    expect(problems(`l0: &l0 [x]\n${levels.join('\n')}`)).toEqual([
      '/srv/gateway.yaml: aliases multiply it beyond what is accepted',
    ]);
    expect(problems(`${ANONYMOUS}origins: &a [*a, *a]`)).toContain('origins[0] holds itself through an alias');
    expect(problems(`a: ${'['.repeat(20_000)}`)).toEqual([expect.stringContaining('the nesting is too deep')]);
  });
});

describe('a TCP listener', () => {
  test.each([
    ['{ host: 127.0.0.1, port: 7000 }', []],
    ['{ port: 0 }', []],
    ['{ host: "[::1]", port: 7000 }', []],
    ['{ socket: a.sock }', []],
    ['{}', ['listen.tcp must hold either port or socket']],
    ['{ port: 7000, socket: a.sock }', ['listen.tcp must hold either port or socket']],
    ['{ host: localhost, socket: a.sock }', ['listen.tcp.host has no meaning beside socket']],
    ['{ host: 0.0.0.0, port: 7000 }', ['listen.tcp.host must be a loopback address in anonymous mode']],
  ])('%s', (tcp, sentences) => {
    expect(problems(`${ANONYMOUS}listen: { tcp: ${tcp} }`)).toEqual(sentences);
  });

  test('has its socket beside the file', () => {
    expect(accepted(`${ANONYMOUS}listen: { tcp: { socket: run/a.sock } }`).listen.tcp).toEqual({
      socket: '/srv/run/a.sock',
    });
  });
});

describe('keys this version does not act on', () => {
  const REFUSED = ['timing: { resumeWindow: 1s }', 'audit: { arguments: full }', 'audit: { redact: [token] }'];

  test.each(REFUSED)('%s', (text) => {
    expect(problems(ANONYMOUS + text)).toEqual([
      expect.stringMatching(/^[\w.[\]]+ is not acted on by this version; remove it$/),
    ]);
  });

  test('what asks for nothing is accepted', () => {
    const text = `listen: { tls: null, tcp: null, trustedProxies: [] }
admin: null
bus: null
limits: { handshakes: { perAddress: null }, requestsPerSecond: null, connectionsPerAddress: null, connectionAge: null }
timing: { resumeWindow: 0s }
audit: { arguments: none, redact: [] }
`;
    expect(problems(ANONYMOUS + text)).toEqual([]);
  });
});

describe('whatever the file holds', () => {
  const MARK = 'hunter2';
  const paths = knownKeys().map((key) => key.path);
  const junk = fc.oneof(
    fc.constant(MARK),
    fc.constant([MARK]),
    fc.constant({ x: MARK }),
    fc.constant(`\${file:${'x'}}${MARK}`),
    fc.integer(),
    fc.constant(null),
    fc.boolean(),
  );

  test('it is judged without a throw, a value quoted, or a line break', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...paths), junk), { maxLength: 6 }), (entries) => {
        const sentences = problems(
          ANONYMOUS + stringify(entries.map(([path, value]) => nest(path, value)).reduce(merge, {})),
        );
        expect(sentences.filter((sentence) => sentence.includes(MARK) || sentence.includes('\n'))).toEqual([]);
      }),
    );
  });

  test('any text is judged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(problems(text).length).toBeGreaterThan(0);
      }),
    );
  });
});

type Nested = { [key: string]: unknown };

function nest(path: readonly string[], value: unknown): Nested {
  const [step = 'x', ...rest] = path;
  return { [step === '*' ? 'a' : step]: rest.length === 0 ? value : nest(rest, value) };
}

/** The later entry wins a top-level key; `auth` stands in the text already. */
function merge(all: Nested, next: Nested): Nested {
  const { auth: _standing, ...rest } = next;
  return { ...all, ...rest };
}
