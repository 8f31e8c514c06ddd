/**
 * Work done one at a time per key, in the order asked for: what was asked first has ended, well or not, before the next
 * begins. Bounded: beyond `most` waiting in all, more is refused.
 */
export class Turns {
  private readonly most: number;
  private readonly refused: () => Error;
  private readonly last = new Map<string, Promise<void>>();
  private waiting = 0;

  constructor(most: number, refused: () => Error) {
    this.most = most;
    this.refused = refused;
  }

  take(key: string, work: () => Promise<void>): Promise<void> {
    return this.waiting >= this.most ? Promise.reject(this.refused()) : this.takeAnyway(key, work);
  }

  /** For work that is bounded by something else. */
  takeAnyway(key: string, work: () => Promise<void>): Promise<void> {
    this.waiting += 1;
    const before = this.last.get(key) ?? Promise.resolve();
    const done = before.then(work, work);
    this.last.set(key, done);
    const over = () => {
      this.waiting -= 1;
      if (this.last.get(key) === done) this.last.delete(key);
    };
    done.then(over, over);
    return done;
  }
}
