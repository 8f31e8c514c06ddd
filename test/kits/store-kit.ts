import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Put, Store, StoreEntry } from '../../src/ports/store.ts';

export interface KitBounds {
  readonly entries: number;
  readonly perOwner: number;
}

/** How a store is opened, empty, with room for this much; `pass` lets time go by for it. */
export interface StoreUnderTest {
  open(bounds: KitBounds): Promise<{ readonly store: Store; pass(ms: number): Promise<void> }>;
}

/** How two replicas' stores of the same entries are opened, with nothing in them. */
export interface SharedStoreUnderTest {
  open(bounds: KitBounds): Promise<{ readonly stores: readonly [Store, Store]; pass(ms: number): Promise<void> }>;
}

const LIFE = 1000;
const entry = (value: string, more: Partial<StoreEntry> = {}): StoreEntry => ({
  value,
  owner: 'alice',
  life: LIFE,
  ...more,
});

/** What every store does. */
export function storeKit(name: string, { open }: StoreUnderTest): void {
  describe(`store: ${name}`, () => {
    let store: Store;
    let pass: (ms: number) => Promise<void>;
    beforeEach(async () => {
      ({ store, pass } = await open({ entries: 4, perOwner: 2 }));
    });
    afterEach(() => store.close());
    const fill = async (...owners: string[]): Promise<Put[]> => {
      const puts: Put[] = [];
      for (const owner of owners) puts.push(await store.put(`${owner}-${puts.length}`, entry('x', { owner })));
      return puts;
    };

    it('gives back what was put, once', async () => {
      expect(await store.put('a', entry('one'))).toBe('kept');
      expect(await store.put('b', entry('two'))).toBe('kept');
      expect(await store.take('a')).toBe('one');
      expect(await store.take('a')).toBeUndefined();
      expect(await store.take('b')).toBe('two');
    });

    it('gives nothing for what was never put, names of object members included', async () => {
      for (const key of ['never', '', '__proto__', 'constructor']) expect(await store.take(key)).toBeUndefined();
    });

    it('gives a value to exactly one of many who ask at once', async () => {
      await store.put('a', entry('one'));
      const taken = await Promise.all(Array.from({ length: 50 }, () => store.take('a')));
      expect(taken.filter((value) => value !== undefined)).toEqual(['one']);
    });

    it('keeps any text as it is', async () => {
      // Whole characters, as a store that speaks UTF-8 can hold them.
      const text = fc.string({ unit: 'binary' });
      await fc.assert(
        fc.asyncProperty(text, text, async (key, value) => {
          expect(await store.put(key, entry(value))).toBe('kept');
          expect(await store.take(key)).toBe(value);
        }),
        { numRuns: 50 },
      );
    });

    it('gives a value until its life is over, and not from then on', async () => {
      await store.put('early', entry('one'));
      await store.put('late', entry('two'));
      await pass(LIFE / 2);
      expect(await store.take('early')).toBe('one');
      await pass(LIFE / 2);
      expect(await store.take('late')).toBeUndefined();
    });

    it('keeps so much of one owner, and of all, and no more', async () => {
      expect(await fill('alice', 'alice', 'alice', 'bob', 'bob', 'carol')).toEqual([
        'kept',
        'kept',
        'owner_full',
        'kept',
        'kept',
        'full',
      ]);
      expect(await store.take('alice-2')).toBeUndefined();
      expect(await store.take('alice-0')).toBe('x');
      expect(await store.put('again', entry('y'))).toBe('kept');
    });

    it('has room again when lives are over', async () => {
      await fill('alice', 'alice', 'bob', 'bob');
      await pass(LIFE);
      expect(await fill('alice', 'alice', 'carol', 'bob')).toEqual(['kept', 'kept', 'kept', 'kept']);
    });

    it('counts what is over no more, while something else is still there', async () => {
      await store.put('short', entry('x', { life: LIFE / 2 }));
      await store.put('long', entry('x', { life: LIFE * 10 }));
      await pass(LIFE / 2);
      const puts = [await store.put('next', entry('x')), await store.put('over', entry('x'))];
      expect(puts).toEqual(['kept', 'owner_full']);
      expect(await fill('bob', 'bob', 'carol')).toEqual(['kept', 'kept', 'full']);
    });

    it('keeps to its bounds also where many put at once', async () => {
      const puts = await Promise.all(Array.from({ length: 20 }, (_, at) => store.put(`k${at}`, entry('x'))));
      expect(puts.filter((put) => put === 'kept')).toHaveLength(2);
    });
  });
}

/** What the stores of two replicas do together. */
export function sharedStoreKit(name: string, { open }: SharedStoreUnderTest): void {
  describe(`store of two replicas: ${name}`, () => {
    let here: Store;
    let there: Store;
    let pass: (ms: number) => Promise<void>;
    beforeEach(async () => {
      const opened = await open({ entries: 4, perOwner: 2 });
      [here, there] = opened.stores;
      pass = opened.pass;
    });
    afterEach(async () => {
      await Promise.all([here.close(), there.close()]);
    });

    it('gives what was put at one from the other, once over both', async () => {
      expect(await here.put('a', entry('one'))).toBe('kept');
      expect(await there.take('a')).toBe('one');
      expect([await here.take('a'), await there.take('a')]).toEqual([undefined, undefined]);
    });

    it('gives a value to exactly one of many who ask at both at once', async () => {
      await here.put('a', entry('one'));
      const asked = Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? here : there).take('a'));
      expect((await Promise.all(asked)).filter((value) => value !== undefined)).toEqual(['one']);
    });

    it('keeps its bounds over both', async () => {
      expect(await here.put('a', entry('x'))).toBe('kept');
      expect(await there.put('b', entry('x'))).toBe('kept');
      expect([await here.put('c', entry('x')), await there.put('c', entry('x'))]).toEqual(['owner_full', 'owner_full']);
      expect(await here.put('d', entry('x', { owner: 'bob' }))).toBe('kept');
      expect(await there.put('e', entry('x', { owner: 'carol' }))).toBe('kept');
      expect(await here.put('f', entry('x', { owner: 'dave' }))).toBe('full');
      expect(await there.take('a')).toBe('x');
      expect(await here.put('f', entry('x'))).toBe('kept');
    });

    it('keeps to its bounds where many put at both at once', async () => {
      const put = (at: number) => (at % 2 === 0 ? here : there).put(`k${at}`, entry('x'));
      const puts = await Promise.all(Array.from({ length: 20 }, (_, at) => put(at)));
      expect(puts.filter((each) => each === 'kept')).toHaveLength(2);
    });

    it('ends lives at one time for both, and has room again then', async () => {
      await here.put('a', entry('x'));
      await there.put('b', entry('x'));
      await pass(LIFE);
      expect([await here.take('b'), await there.take('a')]).toEqual([undefined, undefined]);
      expect(await there.put('c', entry('x'))).toBe('kept');
    });

    it('gives from one what was put at the other, also when that one has closed', async () => {
      await here.put('a', entry('one'));
      await here.close();
      expect(await there.take('a')).toBe('one');
    });
  });
}
