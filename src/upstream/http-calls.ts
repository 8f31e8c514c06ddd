import type { Cancel } from '../ports/clock.ts';
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
  /** Of calls that nobody waits for any more, how to stop the wait for their end. */
  readonly #lingering = new Map<number, Cancel>();

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

  /** Ends the call, its answer included, without a word, be it after `lingerMs`. Unknown ids are ignored. */
  abort(id: number, lingerMs = 0): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    if (lingerMs > 0) return this.#abortLater(id, lingerMs);
    call.abort();
    this.#drop(id);
  }

  /** Ends every call without a word; returns their ids. */
  abortAll(): number[] {
    const ids = [...this.#calls.keys()];
    for (const id of ids) this.abort(id);
    return ids;
  }

  #settle(call: HttpCall): void {
    if (this.#calls.get(call.id) === call) this.#drop(call.id);
  }

  #abortLater(id: number, ms: number): void {
    this.#lingering.get(id)?.();
    const cancel = this.#parts.clock.after(ms, () => this.abort(id));
    this.#lingering.set(id, cancel);
  }

  #drop(id: number): void {
    this.#calls.delete(id);
    this.#lingering.get(id)?.();
    this.#lingering.delete(id);
  }
}
