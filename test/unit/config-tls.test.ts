import { describe, expect, test } from 'vitest';
import { ANONYMOUS, accepted, jwtFile, problems, warnings } from '../support/config-fixtures.ts';

const NOBODY_ASKED = 'auth.certificates needs listen.tls.clientCaFile: nobody is asked for a certificate';
const SHOWS_NOTHING = 'listen.tcp.socket needs auth.mode to be anonymous: callers there show nothing';

/** The least file in jwt mode that knows these client certificates. */
function certified(...entries: readonly string[]): string {
  const list = entries.length === 0 ? ['{ san: a.example, id: a }'] : entries;
  return jwtFile().replace('  issuers:', `  certificates: [${list.join(', ')}]\n  issuers:`);
}

describe('TLS and client certificates', () => {
  const tls = (more: string) => `listen: { tls: { certFile: a, keyFile: b, ${more} } }`;
  const OPTIONAL = tls('clientCaFile: c, clientAuth: optional');
  const ROBOT = '{ san: a.example, id: a }';

  test.each([
    [`${ANONYMOUS}${tls('')}`, []],
    [`${ANONYMOUS}${OPTIONAL}`, []],
    [
      `${ANONYMOUS}${tls('clientAuth: required')}`,
      ['listen.tls.clientAuth needs clientCaFile: without it no certificate can be judged'],
    ],
    [
      `${ANONYMOUS}${tls('clientCaFile: c')}`,
      ['listen.tls.clientAuth is required beside clientCaFile: one of optional, required'],
    ],
    [`${ANONYMOUS}${tls('minVersion: TLSv1.1')}`, ['listen.tls.minVersion must be one of TLSv1.2, TLSv1.3']],
    [certified(), [NOBODY_ASKED]],
    [`${certified()}${OPTIONAL}`, []],
    [`${certified(ROBOT, ROBOT)}${OPTIONAL}`, ['auth.certificates[1].san is the san of an earlier entry']],
    [
      `${certified('{ san: "aa:bb:cc", id: a }')}${OPTIONAL}`,
      [
        'auth.certificates[0].san must be a DNS name, URI or mail address, a subject such as CN=robot,O=Acme, or a SHA-256 fingerprint',
      ],
    ],
    [
      `${certified(ROBOT).replace('issuer: https://idp.example', 'issuer: x509')}${OPTIONAL}`,
      ['auth.issuers[0].issuer must not be x509, which stands for client certificates'],
    ],
  ])('%s', (text, sentences) => {
    expect(problems(text)).toEqual(sentences);
  });

  test('has its files beside the configuration', () => {
    expect(accepted(`${ANONYMOUS}${OPTIONAL}`).listen.tls).toEqual({
      certFile: '/srv/a',
      keyFile: '/srv/b',
      clientCaFile: '/srv/c',
      clientAuth: 'optional',
      minVersion: 'TLSv1.2',
    });
  });

  test('certificates change nothing where callers are anonymous, and that is said', () => {
    expect(warnings(`auth: { mode: anonymous, certificates: [${ROBOT}] }`)).toContain(
      'auth.certificates has no effect in anonymous mode',
    );
  });
});

describe('a TCP listener', () => {
  const CERTIFIED =
    'listen.tcp needs listen.tls.clientCaFile and auth.certificates in jwt mode: a TCP client carries no token';
  const TLS = 'tls: { certFile: a, keyFile: b, clientCaFile: c, clientAuth: optional }';
  test.each([
    [jwtFile(), 'tcp: { port: 7000 }', [CERTIFIED]],
    [jwtFile(), `tcp: { port: 7000 }, ${TLS}`, [CERTIFIED]],
    [certified(), 'tcp: { port: 7000 }, tls: { certFile: a, keyFile: b }', [NOBODY_ASKED, CERTIFIED]],
    [certified(), `tcp: { socket: a.sock }, ${TLS}`, [SHOWS_NOTHING]],
    [certified(), `tcp: { host: 0.0.0.0, port: 7000 }, ${TLS}`, []],
  ])('in jwt mode is for callers with certificates', (file, listen, sentences) => {
    expect(problems(`${file}listen: { ${listen} }`)).toEqual(sentences);
  });
});
