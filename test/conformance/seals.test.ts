import { createCipheriv, hkdfSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSeal } from '../../src/auth/seal.ts';
import { sealKit } from '../kits/seal-kit.ts';
import { fakeClock } from '../support/fake-clock.ts';

const old = 'a'.repeat(32);
const fresh = 'b'.repeat(32);
const other = 'c'.repeat(32);

sealKit('a random key', { make: (clock) => createSeal([], clock), stranger: (clock) => createSeal([], clock) });
sealKit('one configured key', {
  make: (clock) => createSeal([old], clock),
  stranger: (clock) => createSeal([other], clock),
});
sealKit('a key being replaced', {
  make: (clock) => createSeal([fresh, old], clock),
  stranger: (clock) => createSeal([other], clock),
});

/** Whether a text of a process with `made` opens in a process with `read`. */
function carries(made: readonly string[], read: readonly string[]): boolean {
  const clock = fakeClock();
  const sealed = createSeal(made, clock).seal('parked', 'x', 'alice', clock.now() + 1);
  return createSeal(read, clock).open('parked', sealed, 'alice')?.content === 'x';
}

test('replicas with the same keys open each other’s texts, those without keys do not', () => {
  expect(carries([old], [old])).toBe(true);
  expect(carries([], [])).toBe(false);
  expect(carries([old], [])).toBe(false);
});

test('a key is replaced in two steps: the first seals, all open', () => {
  expect(carries([old], [fresh, old])).toBe(true);
  expect(carries([fresh, old], [fresh])).toBe(true);
  expect(carries([fresh, old], [old])).toBe(false);
  expect(carries([old, fresh], [fresh, old])).toBe(true);
  expect(carries([old], [fresh])).toBe(false);
});

/** A text as the format says it, made without the seal: what replicas of other versions write. */
function byHand(content: string, bound: string, expiresAt: number): string {
  const key = Buffer.from(hkdfSync('sha256', old, '', 'mcp-ws-gateway seal 1 parked', 32));
  const nonce = Buffer.alloc(12, 7);
  const parts = [Buffer.of(1), Buffer.from('parked', 'utf16le'), Buffer.from(bound, 'utf16le')];
  const aad = parts.flatMap((part) => [Buffer.from([0, 0, 0, part.length]), part]);
  const expiry = Buffer.alloc(8);
  expiry.writeDoubleBE(expiresAt);
  const cipher = createCipheriv('aes-256-gcm', new Uint8Array(key), nonce).setAAD(Buffer.concat(aad));
  const sealed = cipher.update(Buffer.concat([expiry, Buffer.of(0), Buffer.from(content)]));
  return Buffer.concat([Buffer.of(1), nonce, sealed, cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

test('the format is fixed, so that replicas of several versions read each other', () => {
  const clock = fakeClock();
  const soon = clock.now() + 1;
  const opened = createSeal([old], clock).open('parked', byHand('ä', 'alice', soon), 'alice');
  expect(opened).toEqual({ content: 'ä', nonce: 'BwcHBwcHBwcHBwcH', expiresAt: soon });
});

test('a text that is too long is refused, however well it was sealed', () => {
  const clock = fakeClock();
  const long = byHand('x'.repeat(256 * 1024), 'alice', clock.now() + 1);
  expect(createSeal([old], clock).open('parked', long, 'alice')).toBeUndefined();
});
