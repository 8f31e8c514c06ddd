import type { Id } from '../protocol/envelope.ts';

/** One `subscriptions/listen` of a client: the id its SDK session knows it by and the resources it wants to hear of. */
export interface Listen {
  readonly inner: number;
  readonly uris: readonly string[];
}

/** The listens of one client, and which resources they want in all: each is wanted once, from the first to the last. */
export class Listens {
  private readonly byId = new Map<Id, Listen>();
  private readonly wanted = new Map<string, number>();

  get size(): number {
    return this.byId.size;
  }

  get wantedSize(): number {
    return this.wanted.size;
  }

  wants(uri: string): boolean {
    return this.wanted.has(uri);
  }

  has(id: Id): boolean {
    return this.byId.has(id);
  }

  [Symbol.iterator](): Iterator<[Id, Listen]> {
    return [...this.byId][Symbol.iterator]();
  }

  get(id: Id): Listen | undefined {
    return this.byId.get(id);
  }

  add(id: Id, listen: Listen): void {
    this.byId.set(id, listen);
    for (const uri of listen.uris) this.wanted.set(uri, (this.wanted.get(uri) ?? 0) + 1);
  }

  /** Returns the resources nobody wants any more. */
  remove(id: Id): string[] {
    const listen = this.byId.get(id);
    this.byId.delete(id);
    return (listen?.uris ?? []).filter((uri) => {
      const left = (this.wanted.get(uri) ?? 1) - 1;
      if (left > 0) this.wanted.set(uri, left);
      else this.wanted.delete(uri);
      return left <= 0;
    });
  }
}
