import { constants, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { Config } from '../config/schema.ts';

/** `listen.tls` of the configuration, its paths absolute. */
export type TlsFiles = NonNullable<Config['listen']['tls']>;

/** What the files hold, found fit to serve. */
export interface TlsMaterial {
  readonly context: SecureContextOptions;
  /** When the certificate of the gateway itself began, in epoch milliseconds. */
  readonly notBefore: number;
  /** When the first certificate of the chain to end ends, in epoch milliseconds. It may have passed. */
  readonly notAfter: number;
}

type FileKey = 'certFile' | 'keyFile' | 'clientCaFile';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Reads and judges the files. Throws an Error with one sentence, which names the key of the configuration and nothing a file holds. */
export function readTls(files: TlsFiles): TlsMaterial {
  const chain = readFile('certFile', files.certFile);
  const certificates = certificatesOf('certFile', chain);
  const keyText = readFile('keyFile', files.keyFile);
  const [leaf] = certificates;
  if (leaf?.checkPrivateKey(privateKeyOf(keyText)) !== true)
    throw new Error('listen.tls.keyFile is not the key of the certificate in listen.tls.certFile');
  const context = {
    cert: chain,
    key: keyText,
    minVersion: files.minVersion,
    secureOptions: optionsOf(files),
    ...(files.clientCaFile === undefined ? {} : { ca: authoritiesOf(files.clientCaFile) }),
  };
  return {
    context: usable(context),
    notBefore: Date.parse(leaf.validFrom),
    notAfter: Math.min(...certificates.map(({ validTo }) => Date.parse(validTo))),
  };
}

/**
 * Nothing is renegotiated, so that who a peer is never changes. Where clients have certificates no session is resumed: a
 * resumed one counts as authorized by what was true when it began, even if there was no certificate.
 */
function optionsOf({ clientCaFile }: TlsFiles): number {
  return constants.SSL_OP_NO_RENEGOTIATION | (clientCaFile === undefined ? 0 : constants.SSL_OP_NO_TICKET);
}

/** Without any authority of its own, Node would believe every public one: an empty file is refused. */
function authoritiesOf(path: string): string {
  const text = readFile('clientCaFile', path);
  certificatesOf('clientCaFile', text);
  return text;
}

function certificatesOf(key: FileKey, text: string): X509Certificate[] {
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new Error(`listen.tls.${key} holds no certificate in PEM`);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    throw new Error(`listen.tls.${key} holds a certificate that cannot be read`);
  }
}

/** What the library says of a key it cannot read stays here. */
function privateKeyOf(text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (error) {
    throw new Error(
      `listen.tls.keyFile holds no private key in PEM that opens without a passphrase (${codeOf(error)})`,
    );
  }
}

function usable(context: SecureContextOptions): SecureContextOptions {
  try {
    createSecureContext(context);
    return context;
  } catch (error) {
    throw new Error(`listen.tls cannot be used (${codeOf(error)})`);
  }
}

function readFile(key: FileKey, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`listen.tls.${key} cannot be read (${codeOf(error)})`);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
}
