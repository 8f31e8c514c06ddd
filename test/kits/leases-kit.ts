import { describe, expect, it, onTestFinished } from 'vitest';
import type { Leases } from '../../src/ports/leases.ts';

export interface LeaseTerms {
  /** Connections of one owner over all replicas. */
  readonly limit: number;
  /** Milliseconds for which a count holds that is not renewed. */
  readonly life: number;
}

export interface ReplicaUnderTest {
  readonly leases: Leases;
  /** It tells nothing more, as if its process had been killed. */
  die(): void;
}

/** How replicas that count together are opened, with nothing counted yet; `pass` lets time go by for them. */
export interface LeasesUnderTest {
  open(terms: LeaseTerms): Promise<{ replica(): Promise<ReplicaUnderTest>; pass(ms: number): Promise<void> }>;
}

const LIFE = 3000;

/** What all leases do. */
export function leasesKit(name: string, { open }: LeasesUnderTest): void {
  describe(`leases: ${name}`, () => {
    const two = async (limit: number) => {
      const { replica, pass } = await open({ limit, life: LIFE });
      const [here, there] = [await replica(), await replica()];
      onTestFinished(async () => {
        await Promise.all([here.leases.close(), there.leases.close()]);
      });
      return { replica, here: here.leases, there: there.leases, die: () => here.die(), pass };
    };
    const claims = async (leases: Leases, owner: string, counts: readonly number[]) => {
      const answers: boolean[] = [];
      for (const count of counts) answers.push(await leases.claim(owner, count));
      return answers;
    };

    it('let in as many of an owner as all replicas may have, and not one more', async () => {
      const { here, there } = await two(3);
      expect(await claims(here, 'alice', [1, 2])).toEqual([true, true]);
      expect(await claims(there, 'alice', [1, 2])).toEqual([true, false]);
      expect(await here.claim('alice', 3)).toBe(false);
    });

    it('count each owner by itself, whatever it is called', async () => {
      const { here, there } = await two(1);
      const owners = ['alice', 'bob', '["i","alice"]', '', '__proto__', 'constructor', 'ä\u{1f600}'];
      const [at, other] = [[here, there] as const, [there, here] as const];
      for (const [nth, owner] of owners.entries()) expect(await at[nth % 2]?.claim(owner, 1)).toBe(true);
      for (const [nth, owner] of owners.entries()) expect(await other[nth % 2]?.claim(owner, 1)).toBe(false);
    });

    it('never let in more than the limit, also when many ask at once at both', async () => {
      const { here, there } = await two(5);
      const ask = (leases: Leases) => Promise.all([1, 2, 3, 4, 5].map((count) => leases.claim('alice', count)));
      const answers = (await Promise.all([ask(here), ask(there)])).flat();
      expect(answers.filter(Boolean)).toHaveLength(5);
    });

    it('have room elsewhere for what has gone here', async () => {
      const { here, there } = await two(2);
      expect(await claims(here, 'alice', [1, 2])).toEqual([true, true]);
      expect(await there.claim('alice', 1)).toBe(false);
      there.settle('alice', 0);
      here.settle('alice', 1);
      await expect.poll(() => there.claim('alice', 1)).toBe(true);
      expect(await there.claim('alice', 2)).toBe(false);
      here.settle('alice', 0);
      await expect.poll(() => there.claim('alice', 2)).toBe(true);
    });

    it('keep nothing of a claim they refused', async () => {
      const { here, there } = await two(2);
      expect(await claims(here, 'alice', [1])).toEqual([true]);
      expect(await there.claim('alice', 2)).toBe(false);
      there.settle('alice', 0);
      expect(await here.claim('alice', 2)).toBe(true);
    });

    it('hold for as long as their replica lives', async () => {
      const { here, there, pass } = await two(1);
      expect(await here.claim('alice', 1)).toBe(true);
      await pass(LIFE * 1.5);
      expect(await there.claim('alice', 1)).toBe(false);
    });

    it('end by themselves, not before their time, when their replica has died', async () => {
      const { here, there, die, pass } = await two(1);
      expect(await here.claim('alice', 1)).toBe(true);
      die();
      await pass(LIFE / 2);
      expect(await there.claim('alice', 1)).toBe(false);
      there.settle('alice', 0);
      await pass(LIFE / 2);
      expect(await there.claim('alice', 1)).toBe(true);
    });

    it('of one that has died end also where another of that owner lives', async () => {
      const { replica, here, there, die, pass } = await two(2);
      const { leases: third } = await replica();
      onTestFinished(() => third.close());
      expect([await here.claim('alice', 1), await there.claim('alice', 1)]).toEqual([true, true]);
      die();
      expect(await third.claim('alice', 1)).toBe(false);
      third.settle('alice', 0);
      await pass(LIFE);
      expect([await third.claim('alice', 1), await there.claim('alice', 2)]).toEqual([true, false]);
    });

    it('are given back at once by a replica that closes, which closes once', async () => {
      const { here, there } = await two(2);
      expect(await claims(here, 'alice', [1, 2])).toEqual([true, true]);
      expect(await here.claim('bob', 2)).toBe(true);
      await Promise.all([here.close(), here.close()]);
      await here.close();
      expect(await there.claim('alice', 2)).toBe(true);
      expect(await there.claim('bob', 2)).toBe(true);
    });
  });
}
