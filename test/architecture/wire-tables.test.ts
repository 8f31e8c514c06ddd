import { describe, expect, test } from 'vitest';
import { CLOSE_CODES, type CloseName, closeReason } from '../../src/protocol/close-codes.ts';

/** What clients have been told. A change here is a change of the wire contract. */
const CODES: Record<CloseName, number> = {
  done: 1000,
  draining: 1001,
  binary: 1003,
  bad_utf8: 1007,
  too_big: 1009,
  internal: 1011,
  overloaded: 1013,
  malformed: 4400,
  unauthenticated: 4401,
  forbidden: 4403,
  nothing_opened: 4408,
  replaced: 4409,
  too_many: 4429,
  slow_reader: 4430,
};

/** RFC 6455, section 5.5: a control frame carries 125 bytes, two of them the code. */
const REASON_BYTES = 123;

describe('close codes', () => {
  test('are the contract’s, and no others', () => {
    const codes = Object.entries(CLOSE_CODES).map(([name, { code }]) => [name, code]);
    expect(Object.fromEntries(codes)).toEqual(CODES);
  });

  test('differ from one another', () => {
    const codes = Object.values(CLOSE_CODES).map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
  });

  test.each(Object.entries(CLOSE_CODES))('%s tells the client what to do', (_name, { client }) => {
    expect(client).toMatch(/^[a-z][a-zA-Z0-9 ,:-]+$/);
  });
});

describe('close reasons', () => {
  test.each(closeNames())('%s fits a close frame with the longest hint', (name) => {
    const reason = closeReason(name, Number.MAX_SAFE_INTEGER);
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(REASON_BYTES);
  });

  test('are the fixed word, and the hint in whole milliseconds where one applies', () => {
    expect(closeReason('forbidden')).toBe('forbidden');
    expect(closeReason('draining', 1500.2)).toBe('draining retry=1501');
  });
});

function closeNames(): CloseName[] {
  return Object.keys(CLOSE_CODES).filter((name): name is CloseName => name in CLOSE_CODES);
}
