import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Mac } from '../ports/mac.ts';

const VERSION = 1;
const KEY_BYTES = 32;
const MAC_BYTES = 32;
/** Of 32 bytes in base64url. */
const MAC_TEXT = /^[A-Za-z0-9_-]{43}$/;

/** What a MAC is for. A text signed for one purpose is good for no other. */
export type MacPurpose = 'bus' | 'owner';

/**
 * HMAC-SHA-256 under keys derived from `keys` (texts of at least 32 bytes). They are those of the seal and are rotated
 * with them: the first signs, every one verifies.
 */
export function createMac(keys: readonly [string, ...string[]], purpose: MacPurpose): Mac {
  const [first, ...others] = keys;
  const signing = deriveKey(first, purpose);
  const all = [signing, ...others.map((key) => deriveKey(key, purpose))];
  return {
    sign: (text) => macOf(signing, text).toString('base64url'),
    verify: (text, mac) => {
      const given = MAC_TEXT.test(mac) ? Buffer.from(mac, 'base64url') : Buffer.alloc(MAC_BYTES);
      return all.map((key) => timingSafeEqual(macOf(key, text), given)).includes(true);
    },
  };
}

/** RFC 5869: the purpose is the context that makes one configured key many. */
function deriveKey(key: string, purpose: MacPurpose): KeyObject {
  const derived = hkdfSync(
    'sha256',
    Buffer.from(key, 'utf8'),
    '',
    `mcp-ws-gateway mac ${VERSION} ${purpose}`,
    KEY_BYTES,
  );
  return createSecretKey(Buffer.from(derived));
}

function macOf(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'utf8').digest();
}
