/** Other processes whose numbers are kept; the one that was heard least lately is forgotten first. */
const MAX_SENDERS = 1000;

/**
 * The number of the last entry of each process. One that was written twice, because its first answer was lost, is heard
 * once; one that is missing shows, also where the server that lost it does not know.
 */
export class Senders {
  readonly #last = new Map<string, number>();

  /** `missing`: this one is new, and others of the same process before it never came. */
  heard(from: string, number: number): 'next' | 'again' | 'missing' {
    const last = this.#last.get(from);
    if (last !== undefined && number <= last) return 'again';
    this.#last.delete(from);
    this.#last.set(from, number);
    if (this.#last.size > MAX_SENDERS) this.#forgetFirst();
    return last === undefined || number === last + 1 ? 'next' : 'missing';
  }

  /** What comes next follows on nothing. */
  forget(): void {
    this.#last.clear();
  }

  #forgetFirst(): void {
    for (const from of this.#last.keys()) {
      this.#last.delete(from);
      return;
    }
  }
}
