import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/ports/clock.ts';
import type { Seal, SealPurpose } from '../../src/ports/seal.ts';
import { fakeClock } from '../support/fake-clock.ts';

/** How a seal is made, and one whose texts it must not open. */
export interface SealUnderTest {
  readonly make: (clock: Clock) => Seal;
  readonly stranger: (clock: Clock) => Seal;
}

const PURPOSES: readonly SealPurpose[] = ['parked', 'upstream-state', 'again', 'ticket'];
const purpose = fc.constantFrom(...PURPOSES);
/** Any UTF-16, halves of pairs included. */
const text = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) });
const HEAD = 13;
const TAG = 16;

/** What every seal does. */
export function sealKit(name: string, { make, stranger }: SealUnderTest): void {
  describe(`seal: ${name}`, () => {
    const clock = fakeClock();
    const soon = clock.now() + 1_000;
    const seal = make(clock);
    const sample = () => seal.seal('parked', '{"secret":"hunter2"}', 'alice', soon);

    it('gives back any content for the same purpose and bound, and when it expires', () => {
      fc.assert(
        fc.property(purpose, text, text, (used, content, bound) => {
          const opened = seal.open(used, seal.seal(used, content, bound, soon), bound);
          expect(opened).toEqual({ content, expiresAt: soon, nonce: expect.stringMatching(/^[\w-]{16}$/) });
        }),
      );
    });

    it('makes texts that a URL holds as they are and that show nothing of the content', () => {
      expect(sample()).toMatch(/^[\w-]+$/);
      expect(Buffer.from(sample(), 'base64url').includes('hunter2')).toBe(false);
      expect(Buffer.from(sample(), 'base64url').length).toBe(HEAD + 9 + '{"secret":"hunter2"}'.length + TAG);
    });

    it('names each sealing, also of equal contents, by a nonce of its own', () => {
      const sealed = Array.from({ length: 500 }, sample);
      expect(new Set(sealed.map((each) => seal.open('parked', each, 'alice')?.nonce)).size).toBe(500);
    });

    it('names one sealing the same whenever it is opened', () => {
      const sealed = sample();
      expect(seal.open('parked', sealed, 'alice')).toEqual(seal.open('parked', sealed, 'alice'));
    });

    it('opens for no other purpose and for nothing else it was bound to', () => {
      fc.assert(
        fc.property(fc.tuple(purpose, text), fc.tuple(purpose, text), ([used, bound], [other, elsewhere]) => {
          fc.pre(used !== other || bound !== elsewhere);
          expect(seal.open(other, seal.seal(used, 'x', bound, soon), elsewhere)).toBeUndefined();
        }),
      );
    });

    it('tells halves of surrogate pairs apart in what it is bound to', () => {
      expect(seal.open('again', seal.seal('again', 'x', '\ud800', soon), '\udfff')).toBeUndefined();
    });

    it('opens until it expires, not at that time', () => {
      const [time, brief] = [fakeClock(), make(clock)];
      const timed = make(time);
      const sealed = timed.seal('again', 'x', '', time.now() + 1_000);
      time.advance(999);
      expect(timed.open('again', sealed, '')?.content).toBe('x');
      time.advance(1);
      expect(timed.open('again', sealed, '')).toBeUndefined();
      expect(brief.open('again', brief.seal('again', 'x', '', clock.now()), '')).toBeUndefined();
      expect(brief.open('again', brief.seal('again', 'x', '', Number.NaN), '')).toBeUndefined();
    });

    it('opens nothing that was changed in any bit', () => {
      const bytes = Buffer.from(sample(), 'base64url');
      const flipped = Array.from({ length: bytes.length * 8 }, (_, bit) => {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        return changed.toString('base64url');
      });
      expect(flipped.filter((each) => seal.open('parked', each, 'alice') !== undefined)).toEqual([]);
    });

    it('opens nothing that was cut or made longer', () => {
      const sealed = sample();
      const cut = Array.from({ length: sealed.length }, (_, length) => sealed.slice(0, length));
      const changed = [...cut, `${sealed}A`, `${sealed}AAAA`, sealed + sealed];
      expect(changed.filter((each) => seal.open('parked', each, 'alice') !== undefined)).toEqual([]);
    });

    it('takes one spelling of the bytes alone', () => {
      const sealed = sample();
      const spelt = [
        `${sealed}=`,
        `${sealed}==`,
        ` ${sealed}`,
        `${sealed}\n`,
        `${sealed.slice(0, 9)}\n${sealed.slice(9)}`,
      ];
      const dashed = Array.from({ length: 100 }, sample).find((each) => each.includes('-')) ?? '';
      const mixed = [...spelt.map((each) => ['alice', each]), ['alice', dashed.replaceAll('-', '+')]];
      expect(seal.open('parked', dashed, 'alice')).toBeDefined();
      expect(mixed.filter(([bound = '', each = '']) => seal.open('parked', each, bound) !== undefined)).toEqual([]);
    });

    it('opens nothing it did not make, and throws at nothing', () => {
      fc.assert(
        fc.property(fc.oneof(text, fc.base64String(), fc.uint8Array().map(asVersioned)), purpose, (sealed, used) => {
          expect(seal.open(used, sealed, '')).toBeUndefined();
        }),
      );
    });

    it('opens nothing of a stranger’s, who opens nothing of its', () => {
      const other = stranger(clock);
      expect(seal.open('parked', other.seal('parked', 'x', '', soon), '')).toBeUndefined();
      expect(other.open('parked', seal.seal('parked', 'x', '', soon), '')).toBeUndefined();
    });

    it('makes and opens texts of up to 256 KiB, and refuses to make a longer one', () => {
      const most = (256 * 1024 * 3) / 4 - HEAD - 9 - TAG;
      const sealed = seal.seal('upstream-state', 'x'.repeat(most), '', soon);
      expect(sealed.length).toBe(256 * 1024);
      expect(seal.open('upstream-state', sealed, '')?.content.length).toBe(most);
      expect(() => seal.seal('upstream-state', 'x'.repeat(most + 1), '', soon)).toThrow(RangeError);
      expect(seal.open('upstream-state', `${sealed}AAAA`, '')).toBeUndefined();
    });
  });
}

function asVersioned(bytes: Uint8Array): string {
  return Buffer.concat([Buffer.of(1), bytes]).toString('base64url');
}
