/** Other processes whose numbers are kept; the one that was heard least lately is forgotten first. */
const MAX_SENDERS = 1000;

/**
 * The number of the last entry of each process. One that was written twice, because its first answer was lost, is heard
 * once; one that is missing shows, also where the server that lost it does not know.
 */
export class Senders {
  readonly #last = new Map<string, number>();
  /** Whose next one may have any higher number. */
  #passed = new Set<string>();

  /** `missing`: this one is new, and others of the same process before it never came. */
  heard(from: string, number: number): 'next' | 'again' | 'missing' {
    const last = this.#last.get(from);
    if (last !== undefined && number <= last) return 'again';
    const isPassed = this.#passed.delete(from);
    this.#last.delete(from);
    this.#last.set(from, number);
    if (this.#last.size > MAX_SENDERS) this.#forgetFirst();
    return last === undefined || isPassed || number === last + 1 ? 'next' : 'missing';
  }

  /** Some were not read, of whichever process: that is no news of any. Those before them stay heard, so none is heard again. */
  passOver(): void {
    this.#passed = new Set(this.#last.keys());
  }

  #forgetFirst(): void {
    for (const from of this.#last.keys()) {
      this.#last.delete(from);
      this.#passed.delete(from);
      return;
    }
  }
}
