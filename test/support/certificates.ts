import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { bits, explicit, integer, octets, oid, sequence, set, time, tlv, utf8, yes } from './der.ts';

export interface LeafOptions {
  /** First to last, as a certificate holds it: `[['C', 'US'], ['CN', 'robot']]`. */
  readonly subject?: readonly (readonly [keyof typeof ATTRIBUTES, string])[];
  readonly dns?: readonly string[];
  readonly uri?: readonly string[];
  readonly email?: readonly string[];
  /** IPv4 addresses. */
  readonly ip?: readonly string[];
  /** Epoch milliseconds. */
  readonly notAfter?: number;
  readonly usage?: 'client' | 'server';
}

/** PEM, as `node:tls` takes it. */
export interface Certified {
  readonly cert: string;
  readonly key: string;
  /** Lower-case hex. */
  readonly sha256: string;
}

export interface Authority {
  readonly cert: string;
  issue(options?: LeafOptions): Certified;
}

const DAY = 86_400_000;
const ATTRIBUTES = { C: '2.5.4.6', O: '2.5.4.10', OU: '2.5.4.11', CN: '2.5.4.3' };
const ECDSA_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));

/** An authority of its own key; two of the same name are two authorities. */
export function makeAuthority(name = 'Test authority'): Authority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = nameOf([['CN', name]]);
  const constraints = extension('2.5.29.19', sequence(yes), 'critical');
  const own = { subject, publicKey: keys.publicKey, notAfter: Date.now() + 30 * DAY, extensions: [constraints] };
  return {
    cert: pem(signed(own, subject, keys.privateKey)),
    issue(options = {}) {
      const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const der = signed(leafOf(options, leaf.publicKey), subject, keys.privateKey);
      return {
        cert: pem(der),
        key: leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
        sha256: createHash('sha256').update(der).digest('hex'),
      };
    },
  };
}

/** What a gateway on loopback serves with. */
export function serverCertificate(authority: Authority, notAfter?: number): Certified {
  const names = { subject: [['CN', 'gateway']], dns: ['localhost'], ip: ['127.0.0.1'], usage: 'server' } as const;
  return authority.issue(notAfter === undefined ? names : { ...names, notAfter });
}

export interface TlsFolder {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string;
  /** Puts other files in place, each whole; the others stay. */
  put(files: { readonly cert?: string; readonly key?: string; readonly ca?: string }): void;
}

/** Files as `listen.tls` names them, in a folder of their own that goes when `over` says: with the test, or `afterAll`. */
export function tlsFolder(
  { cert, key }: Certified,
  ca: string,
  over: (remove: () => void) => void = onTestFinished,
): TlsFolder {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-tls-'));
  over(() => rmSync(directory, { recursive: true }));
  const put: TlsFolder['put'] = (files) => {
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(directory, 'new'), text);
      renameSync(join(directory, 'new'), join(directory, `${name}.pem`));
    }
  };
  put({ cert, key, ca });
  const path = (name: string) => join(directory, `${name}.pem`);
  return { certFile: path('cert'), keyFile: path('key'), clientCaFile: path('ca'), put };
}

interface ToBeSigned {
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
  readonly notAfter: number;
  readonly extensions: readonly Buffer[];
}

function leafOf(options: LeafOptions, publicKey: KeyObject): ToBeSigned {
  const {
    subject = [],
    dns = [],
    uri = [],
    email = [],
    ip = [],
    notAfter = Date.now() + DAY,
    usage = 'client',
  } = options;
  // RFC 5280 section 4.2.1.6: rfc822Name [1], dNSName [2], uniformResourceIdentifier [6], iPAddress [7].
  const tagged = (tag: number, values: readonly (string | readonly number[])[]) =>
    values.map((value) => tlv(0x80 + tag, Buffer.from(value)));
  const names = [
    ...tagged(2, dns),
    ...tagged(6, uri),
    ...tagged(1, email),
    ...tagged(
      7,
      ip.map((address) => address.split('.').map(Number)),
    ),
  ];
  const purpose = sequence(oid(usage === 'client' ? '1.3.6.1.5.5.7.3.2' : '1.3.6.1.5.5.7.3.1'));
  return {
    subject: nameOf(subject),
    publicKey,
    notAfter,
    extensions: [
      extension('2.5.29.37', purpose),
      ...(names.length === 0 ? [] : [extension('2.5.29.17', sequence(...names))]),
    ],
  };
}

/** RFC 5280 section 4.1. */
function signed({ subject, publicKey, notAfter, extensions }: ToBeSigned, issuer: Buffer, key: KeyObject): Buffer {
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(Buffer.from([1, ...randomBytes(8)])),
    ECDSA_SHA256,
    issuer,
    sequence(time(Math.min(notAfter, Date.now()) - DAY), time(notAfter)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions)),
  );
  return sequence(body, ECDSA_SHA256, bits(sign('sha256', body, key)));
}

function nameOf(parts: NonNullable<LeafOptions['subject']>): Buffer {
  return sequence(...parts.map(([kind, value]) => set(sequence(oid(ATTRIBUTES[kind]), utf8(value)))));
}

function extension(id: string, content: Buffer, critical?: 'critical'): Buffer {
  return sequence(oid(id), ...(critical === undefined ? [] : [yes]), octets(content));
}

function pem(der: Buffer): string {
  const lines = (der.toString('base64').match(/.{1,64}/g) ?? []).join('\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}
