import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import type { Clock } from '../ports/clock.ts';
import type { Opened, Seal, SealPurpose } from '../ports/seal.ts';
import { packed, unpacked } from './sealed-content.ts';

/** Longest sealed text, in characters: one that is longer is not even decoded. */
export const MAX_SEALED = 256 * 1024;

const VERSION = 1;
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** NIST SP 800-38D section 8.2.2: 96 random bits, for at most 2^32 texts of one key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + NONCE_BYTES;

/** The first key seals, every one opens: a new key is put in front and the old one goes once nothing it sealed is valid. */
interface Ring {
  readonly seals: KeyObject;
  readonly opens: readonly KeyObject[];
}

/**
 * AES-256-GCM under a key for each purpose, derived from each of `keys` (texts of at least 32 bytes). Without keys a random
 * one that ends with the process. A sealed text is base64url of version ‖ nonce ‖ ciphertext ‖ tag.
 */
export function createSeal(keys: readonly string[], clock: Clock): Seal {
  const [first = randomBytes(KEY_BYTES), ...others] = keys.map((key) => Buffer.from(key, 'utf8'));
  const ring = (purpose: SealPurpose): Ring => {
    const seals = deriveKey(first, purpose);
    return { seals, opens: [seals, ...others.map((key) => deriveKey(key, purpose))] };
  };
  const rings: Readonly<Record<SealPurpose, Ring>> = {
    parked: ring('parked'),
    'upstream-state': ring('upstream-state'),
    again: ring('again'),
    ticket: ring('ticket'),
  };
  return {
    seal: (purpose, content, bound, expiresAt) =>
      sealWith(rings[purpose].seals, packed(content, expiresAt), associated(purpose, bound)),
    open: (purpose, sealed, bound) => {
      const opened = openWith(rings[purpose].opens, sealed, associated(purpose, bound));
      return opened !== undefined && clock.now() < opened.expiresAt ? opened : undefined;
    },
  };
}

/** RFC 5869: the purpose is the context that makes one configured key many. */
function deriveKey(key: Uint8Array, purpose: SealPurpose): KeyObject {
  const derived = hkdfSync('sha256', key, '', `mcp-ws-gateway seal ${VERSION} ${purpose}`, KEY_BYTES);
  return createSecretKey(Buffer.from(derived));
}

/** What the tag covers beside the ciphertext: each part behind its length, so that no two pairs give the same bytes. */
function associated(purpose: SealPurpose, bound: string): Buffer {
  // UTF-16, where texts that differ in a lone surrogate differ too.
  const parts = [Buffer.of(VERSION), Buffer.from(purpose, 'utf16le'), Buffer.from(bound, 'utf16le')];
  return Buffer.concat(parts.flatMap((part) => [lengthOf(part), part]));
}

function lengthOf(part: Buffer): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(part.length);
  return bytes;
}

function sealWith(key: KeyObject, plain: Buffer, aad: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(aad);
  const bytes = [Buffer.of(VERSION), nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()];
  const sealed = Buffer.concat(bytes).toString('base64url');
  if (sealed.length > MAX_SEALED) throw new RangeError('The content is too long to be sealed');
  return sealed;
}

function openWith(keys: readonly KeyObject[], sealed: string, aad: Buffer): Opened | undefined {
  const bytes = decoded(sealed);
  if (bytes === undefined) return undefined;
  const nonce = bytes.subarray(1, HEAD_BYTES);
  for (const key of keys) {
    const plain = decrypted(key, nonce, bytes.subarray(HEAD_BYTES), aad);
    if (plain !== undefined) return { ...unpacked(plain), nonce: nonce.toString('base64url') };
  }
  return undefined;
}

/** Node reads base64url leniently; only the one spelling this module writes is taken. */
function decoded(sealed: string): Buffer | undefined {
  if (sealed.length > MAX_SEALED) return undefined;
  const bytes = Buffer.from(sealed, 'base64url');
  const whole = bytes.length >= HEAD_BYTES + TAG_BYTES && bytes[0] === VERSION;
  return whole && bytes.toString('base64url') === sealed ? bytes : undefined;
}

function decrypted(key: KeyObject, nonce: Buffer, body: Buffer, aad: Buffer): Buffer | undefined {
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(aad)
    .setAuthTag(body.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(body.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}
