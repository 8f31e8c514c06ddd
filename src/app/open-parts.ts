interface Closable {
  close(): unknown;
}

/** What has been opened and is to be closed: what came last first, and each of it, whatever the others do. */
export class OpenParts {
  readonly #parts: Closable[] = [];
  #closing: Promise<void> | undefined;

  keep(part: Closable | undefined): void {
    if (part !== undefined) this.#parts.push(part);
  }

  /** Idempotent. Rejects with the first failure once everything has been closed. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const part of this.#parts.splice(0).reverse()) {
      try {
        await part.close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
