interface Waiter {
  resolve(): void;
  reject(cause: Error): void;
}

/** The resources somebody wants to hear of, and who still waits to be told that they are heard. */
export class Wanted {
  private readonly waiting = new Map<string, Waiter[]>();

  get uris(): ReadonlySet<string> {
    return new Set(this.waiting.keys());
  }

  /** Wanted, and nobody waits for it. */
  isSettled(uri: string): boolean {
    return this.waiting.get(uri)?.length === 0;
  }

  add(uri: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.set(uri, [...(this.waiting.get(uri) ?? []), { resolve, reject }]);
    });
  }

  /** Who waits for it is told nothing is wrong: it was wanted no longer than that. */
  remove(uri: string): void {
    const waiters = this.waiting.get(uri) ?? [];
    this.waiting.delete(uri);
    for (const { resolve } of waiters) resolve();
  }

  /** Of those asked for, the honored ones are heard, the others not wanted any more. Returns those somebody waited for. */
  answer(asked: ReadonlySet<string>, honored: ReadonlySet<string>, refusal: Error): Set<string> {
    const fresh = new Set<string>();
    for (const uri of asked) {
      const waiters = this.waiting.get(uri);
      if (waiters === undefined) continue;
      if (waiters.length > 0) fresh.add(uri);
      if (honored.has(uri)) this.settle(uri, waiters);
      else this.drop(uri, waiters, refusal);
    }
    return fresh;
  }

  /** None of those asked for is heard: who waits for one is told so; what was heard before is still wanted. */
  refuse(asked: ReadonlySet<string>, cause: Error): void {
    for (const uri of asked) {
      const waiters = this.waiting.get(uri) ?? [];
      if (waiters.length > 0) this.drop(uri, waiters, cause);
    }
  }

  fail(cause: Error): void {
    for (const [uri, waiters] of this.waiting) this.drop(uri, waiters, cause);
  }

  private settle(uri: string, waiters: readonly Waiter[]): void {
    this.waiting.set(uri, []);
    for (const { resolve } of waiters) resolve();
  }

  private drop(uri: string, waiters: readonly Waiter[], cause: Error): void {
    this.waiting.delete(uri);
    for (const { reject } of waiters) reject(cause);
  }
}
