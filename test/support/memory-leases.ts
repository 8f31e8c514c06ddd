import type { Clock } from '../../src/ports/clock.ts';
import type { Leases } from '../../src/ports/leases.ts';

interface Told {
  readonly count: number;
  readonly endsAt: number;
}

/** Leases of several replicas in one process. */
export class LeaseBook {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #life: number;
  readonly #told = new Map<string, Map<object, Told>>();

  constructor(clock: Clock, { limit, life }: { readonly limit: number; readonly life: number }) {
    this.#clock = clock;
    this.#limit = limit;
    this.#life = life;
  }

  /** One more replica; once it is dead it says nothing more, and what it said ends by itself. */
  replica(): { readonly leases: Leases; die(): void } {
    const own = new Map<string, number>();
    const self = {};
    let isAlive = true;
    const tell = (owner: string, count: number) => {
      if (count === 0) own.delete(owner);
      else own.set(owner, count);
      if (isAlive) this.#tell(owner, self, count);
    };
    const renew = () => {
      for (const [owner, count] of own) tell(owner, count);
      this.#clock.after(this.#life / 3, renew);
    };
    renew();
    const leases: Leases = {
      claim: async (owner, count) => {
        const fits = this.#others(owner, self) + count <= this.#limit;
        if (fits) tell(owner, count);
        return fits;
      },
      settle: tell,
      close: async () => {
        for (const owner of [...own.keys()]) tell(owner, 0);
      },
    };
    const die = () => {
      isAlive = false;
    };
    return { leases, die };
  }

  #tell(owner: string, replica: object, count: number): void {
    const told = this.#told.get(owner) ?? new Map<object, Told>();
    this.#told.set(owner, told.set(replica, { count, endsAt: this.#clock.elapsed() + this.#life }));
  }

  #others(owner: string, replica: object): number {
    const told = [...(this.#told.get(owner) ?? [])];
    const now = this.#clock.elapsed();
    return told
      .filter(([each, { endsAt }]) => each !== replica && endsAt > now)
      .reduce((total, [, { count }]) => total + count, 0);
  }
}
