/** What is on its way out: links being closed, and openings nobody wants any more. How one ends makes no difference. */
export class Endings {
  private readonly all = new Set<Promise<void>>();

  add(end: Promise<unknown>): void {
    const ending = end.then(nothing, nothing).finally(() => this.all.delete(ending));
    this.all.add(ending);
  }

  /** Resolves when nothing is left. The end of an opening may be the beginning of a close. */
  async over(): Promise<void> {
    while (this.all.size > 0) await Promise.all(this.all);
  }
}

function nothing(): void {}
