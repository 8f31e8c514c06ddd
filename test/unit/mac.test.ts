import { createHmac, hkdfSync } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMac } from '../../src/auth/mac.ts';

const [ONE, TWO] = ['one key of at least thirty-two bytes', 'two keys of at least thirty-two bytes'];

test('is HMAC-SHA-256 under a key derived by HKDF', () => {
  const key = Buffer.from(hkdfSync('sha256', Buffer.from(ONE), '', 'mcp-ws-gateway mac 1 bus', 32));
  expect(createMac([ONE], 'bus').sign('ä text')).toBe(createHmac('sha256', key).update('ä text').digest('base64url'));
});

test('the first key signs and every key verifies', () => {
  const [old, both, other] = [createMac([ONE], 'bus'), createMac([TWO, ONE], 'bus'), createMac([TWO], 'bus')];
  expect(both.verify('text', old.sign('text'))).toBe(true);
  expect(other.verify('text', both.sign('text'))).toBe(true);
  expect(old.verify('text', both.sign('text'))).toBe(false);
});

test('no other text and no other MAC is good', () => {
  const mac = createMac([ONE], 'bus');
  const good = mac.sign('text');
  fc.assert(fc.property(fc.string(), (text) => mac.verify(text, good) === (text === 'text')));
  fc.assert(fc.property(fc.string(), (other) => mac.verify('text', other) === (other === good)));
  for (const other of ['', `${good}=`, `${good}A`, good.slice(1), 'A'.repeat(43)]) {
    expect(mac.verify('text', other)).toBe(false);
  }
});
