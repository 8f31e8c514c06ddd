import { type CallHeard, type CallParts, HttpCall } from './http-call.ts';
import type { HttpDelivery } from './http-delivery.ts';
import type { CallHeaders } from './http-headers.ts';

/** A request to be posted under its JSON-RPC id. */
export interface Posted {
  readonly id: number;
  readonly message: string;
  readonly headers: CallHeaders;
}

/** What the channel wants to know of a call, beyond what the owner is told. */
export type CallWatch = Pick<CallHeard, 'lost'> & Partial<Pick<CallHeard, 'accepted' | 'answered' | 'failed'>>;

/** The requests of one channel that are under way, by id. What they bring goes to the channel's owner in order. */
export class HttpCalls {
  readonly #parts: Omit<CallParts, 'headers'>;
  readonly #delivery: HttpDelivery;
  readonly #calls = new Map<number, HttpCall>();

  constructor(parts: Omit<CallParts, 'headers'>, delivery: HttpDelivery) {
    this.#parts = parts;
    this.#delivery = delivery;
  }

  /** The server has not yet said anything about one of them at least. */
  get undecided(): boolean {
    for (const call of this.#calls.values()) if (call.undecided) return true;
    return false;
  }

  start({ id, message, headers }: Posted, watch: CallWatch): void {
    const call = new HttpCall({ ...this.#parts, headers }, id, message, {
      accepted: (answer) => watch.accepted?.(answer),
      answered: (text) => {
        this.#settle(call);
        watch.answered?.(text);
      },
      message: (text) => this.#delivery.message(text),
      failed: (failure) => {
        this.#settle(call);
        this.#delivery.failed(id, failure);
        watch.failed?.(failure);
      },
      lost: (what, cause) => watch.lost(what, cause),
    });
    this.#calls.set(id, call);
  }

  /** Ends the call, its answer included, without a word. Unknown ids are ignored. */
  abort(id: number): void {
    this.#calls.get(id)?.abort();
    this.#calls.delete(id);
  }

  /** Ends every call without a word; returns their ids. */
  abortAll(): number[] {
    const ids = [...this.#calls.keys()];
    for (const call of this.#calls.values()) call.abort();
    this.#calls.clear();
    return ids;
  }

  #settle(call: HttpCall): void {
    if (this.#calls.get(call.id) === call) this.#calls.delete(call.id);
  }
}
