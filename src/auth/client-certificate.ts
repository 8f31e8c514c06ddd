import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../ports/clock.ts';
import { CERTIFICATE_ISSUER, type Identity } from './principal.ts';

/** Whom a certificate stands for; `san` is an exact name in one of the forms of `certificateName`. */
export interface CertificateEntry {
  readonly san: string;
  readonly id: string;
  readonly roles: readonly string[];
}

export type CertificateFault = 'certificate_untrusted' | 'certificate_expired' | 'certificate_unknown';

export type CertificateVerdict =
  /** The peer showed none, or there is no TLS. */
  | { readonly outcome: 'none' }
  | { readonly outcome: 'accepted'; readonly identity: Identity }
  /** Names are only there where an authority of ours vouches for them. */
  | { readonly outcome: 'refused'; readonly reason: CertificateFault; readonly names?: CertificateNames };

export interface CertificateNames {
  /** RFC 4514: `CN=robot,O=Acme`. */
  readonly subject: string;
  /** SHA-256 of the certificate, 64 lower-case hex digits. */
  readonly fingerprint: string;
  /** DNS names, URIs and mail addresses (RFC 5280 section 4.2.1.6). */
  readonly alternatives: readonly string[];
}

/** Judges the certificate a peer showed in its handshake. Of several entries that name it the first decides. */
export function certificateJudge(
  entries: readonly CertificateEntry[],
  clock: Clock,
): (socket: Socket) => CertificateVerdict {
  const known = entries.map((entry) => ({ ...entry, isNamedBy: certificateName(entry.san) }));
  return (socket) => {
    const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
    if (!(socket instanceof TLSSocket) || certificate === undefined) return { outcome: 'none' };
    if (!socket.authorized) return { outcome: 'refused', reason: 'certificate_untrusted' };
    const names = namesOf(certificate);
    const expiresAt = Date.parse(certificate.validTo);
    // Also where it has ended since the handshake; what cannot be read has ended.
    if (!(expiresAt > clock.now())) return { outcome: 'refused', reason: 'certificate_expired', names };
    const entry = known.find((each) => each.isNamedBy(names));
    if (entry === undefined) return { outcome: 'refused', reason: 'certificate_unknown', names };
    const { id, roles } = entry;
    return {
      outcome: 'accepted',
      identity: { issuer: CERTIFICATE_ISSUER, id, roles, scopes: [], claims: {}, expiresAt },
    };
  };
}

const FINGERPRINT = /^(?:[0-9a-f]{64}|[0-9a-f]{2}(?::[0-9a-f]{2}){31})$/i;
const SUBJECT = /^[A-Za-z0-9.]+=/;

/** Whether a certificate has the name that an entry gives. The text alone says which of its names that is, so that none can pass for another. */
export function certificateName(text: string): (names: CertificateNames) => boolean {
  if (FINGERPRINT.test(text)) {
    const wanted = text.replaceAll(':', '').toLowerCase();
    return ({ fingerprint }) => fingerprint === wanted;
  }
  if (SUBJECT.test(text)) return ({ subject }) => subject === text;
  return ({ alternatives }) => alternatives.includes(text);
}

function namesOf({ subject, subjectAltName, fingerprint256 }: X509Certificate): CertificateNames {
  return {
    subject: subjectText(subject),
    fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
    alternatives: alternativeNames(subjectAltName),
  };
}

/** Node writes a line for each part, escaped as RFC 4514 has it and first to last; that RFC's text runs from last to first (section 2.1). */
function subjectText(lines: string | undefined): string {
  return (lines ?? '')
    .split('\n')
    .reverse()
    .map((part) => part.replaceAll(' + ', '+'))
    .join(',');
}

/** One name of Node's list. A value that could be taken for more than one name is written as a JSON string. */
const ALTERNATIVE = /([A-Za-z ]+):(?:("(?:[^"\\]|\\.)*")|([^",]*))(?:, |$)/y;
const COUNTED: ReadonlySet<string | undefined> = new Set(['DNS', 'URI', 'email']);

/** None at all where the list does not read as one from end to end. */
export function alternativeNames(list: string | undefined): string[] {
  const names: string[] = [];
  const text = list ?? '';
  let at = 0;
  while (at < text.length) {
    ALTERNATIVE.lastIndex = at;
    const match = ALTERNATIVE.exec(text);
    if (match === null) return [];
    const [whole, kind, quoted, plain = ''] = match;
    const value = quoted === undefined ? plain : unquoted(quoted);
    if (value === undefined) return [];
    if (COUNTED.has(kind)) names.push(value);
    at += whole.length;
  }
  return names;
}

function unquoted(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
