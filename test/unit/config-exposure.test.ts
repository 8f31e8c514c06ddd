import { describe, expect, test } from 'vitest';
import { ANONYMOUS, accepted, jwtFile, problems, warnings } from '../support/config-fixtures.ts';

/** In jwt mode, with these sections. */
const jwt = (sections: string) => jwtFile(undefined, `policy: null\nmcpServers: { a: { command: a } }\n${sections}`);
const RATE = '{ rate: 20, burst: 60 }';

describe('proxies that are believed', () => {
  test('are blocks of addresses', () => {
    expect(accepted(jwt('listen: { trustedProxies: [10.0.0.0/8, "2001:db8::/32"] }')).listen.trustedProxies).toEqual([
      '10.0.0.0/8',
      '2001:db8::/32',
    ]);
  });

  test.each(['10.0.0.1', '10.0.0.0/33', '10.0.0.0/8 ', 'proxy.example'])('and not %s', (text) => {
    expect(problems(jwt(`listen: { trustedProxies: [${JSON.stringify(text)}] }`))).toEqual([
      'listen.trustedProxies[0] must be a block of addresses such as 10.0.0.0/8 or 2001:db8::/32; one address is 10.0.0.1/32',
    ]);
  });

  test('are none in anonymous mode, which refuses whatever came through a proxy', () => {
    expect(problems(`${ANONYMOUS}listen: { trustedProxies: [10.0.0.0/8] }`)).toEqual([
      'listen.trustedProxies needs jwt mode: in anonymous mode an upgrade that came through a proxy is refused',
    ]);
  });
});

test('the burst of an address is at least its rate', () => {
  expect(problems(jwt('limits: { handshakes: { perAddress: { rate: 20, burst: 19 } } }'))).toEqual([
    'limits.handshakes.perAddress.burst must be at least rate',
  ]);
});

describe('a warning', () => {
  const OPEN = 'limits.handshakes.perAddress is null: one address can use up what limits.handshakes.perSecond lets in';

  test.each([['listen: { host: 0.0.0.0 }'], ['listen: { host: mcp.example.com, trustedProxies: [10.0.0.0/8] }']])(
    'is due where %s has no limit per address',
    (sections) => {
      expect(warnings(jwt(sections))).toContain(OPEN);
    },
  );

  test('is due of the TCP listener too', () => {
    const tls = 'tls: { certFile: a, keyFile: b, clientCaFile: c, clientAuth: required }';
    const rest = `  certificates: [{ san: a.example, id: a, roles: [] }]
policy: null
mcpServers: { a: { command: a } }
listen: { tcp: { host: 192.0.2.1, port: 1 }, ${tls} }`;
    expect(warnings(jwtFile(undefined, rest))).toContain(OPEN);
  });

  test.each([
    ['listen: { host: 127.0.0.1 }'],
    [`listen: { host: 0.0.0.0, tls: { certFile: a, keyFile: b } }\nlimits: { handshakes: { perAddress: ${RATE} } }`],
    [`listen: { host: 0.0.0.0, trustedProxies: [10.0.0.0/8] }\nlimits: { handshakes: { perAddress: ${RATE} } }`],
    [
      `listen: { trustedProxies: [127.0.0.1/32] }\nlimits: { connectionsPerAddress: 5, handshakes: { perAddress: ${RATE} } }`,
    ],
  ])('is not due of %s', (sections) => {
    expect(warnings(jwt(sections))).toEqual([]);
  });

  test('is due where limits per address are on loopback, behind nothing that is believed', () => {
    const sections = `limits: { connectionsPerAddress: 5, handshakes: { perAddress: ${RATE} } }`;
    const takes = 'takes all callers for one while listen.trustedProxies does not name the proxy';
    expect(warnings(jwt(sections))).toEqual([
      `limits.handshakes.perAddress ${takes}`,
      `limits.connectionsPerAddress ${takes}`,
    ]);
  });

  test.each(['0.0.0.0/0', '::/0', '::ffff:0.0.0.0/96'])('is due of the proxies %s, which is everybody', (block) => {
    expect(warnings(jwt(`listen: { trustedProxies: [10.0.0.0/8, "${block}"] }`))).toEqual([
      `listen.trustedProxies holds ${block}: any caller can choose its own address`,
    ]);
  });

  test('is due of tokens in the clear beyond loopback, where no proxy is named', () => {
    const sections = `listen: { host: 0.0.0.0 }\nlimits: { handshakes: { perAddress: ${RATE} } }`;
    expect(warnings(jwt(sections))).toEqual([
      'listen.tls is null: tokens travel unencrypted to listen.host unless a proxy in front of it speaks TLS',
    ]);
  });

  test('is due of ops beyond loopback', () => {
    expect(warnings(jwt('ops: { host: 0.0.0.0 }'))).toEqual([
      'ops.host is beyond loopback: whoever reaches it reads health and metrics, without authentication',
    ]);
  });
});
