import type { Outgoing, Peer } from '../ports/link.ts';
import type { Notification, Request, Response } from '../protocol/envelope.ts';
import type { Fault } from '../protocol/errors.ts';

/** What a link of one era says and hears otherwise than one of the other. */
export interface Dialect {
  /** The opening exchange; rejects when the peer is none of this era that the gateway can work with. */
  open(): Promise<Peer>;
  /** Resolves when changes are heard, after `open`; never rejects, and takes a second at most. */
  ready(): Promise<void>;
  /** The text of a request of the gateway's own. */
  own(id: number, method: string, params: string | undefined): string;
  /** The text of a caller's request. */
  relayed(outgoing: Outgoing, id: number): string;
  notify(text: string): void;
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
  setLevel(level: string): Promise<void>;
  /** The upstream asks something itself. */
  asked(request: Request): void;
  /** Everything it says but progress. */
  heard(notification: Notification): void;
  /** Of an answer on a live link that says the peer is no longer what it was opened as: what the call fails with instead. */
  disowned(response: Response): Fault | undefined;
  /** The link is gone: nothing is sent from now on. */
  close(): void;
}

/** A link as its dialect uses it. */
export interface Line {
  ask(method: string, params?: string, timeoutMs?: number): Promise<string>;
  /** Sends what is no request. */
  send(text: string): boolean;
  /** Sends what may be lost, and is where the peer does not read. */
  say(text: string): void;
  /**
   * Sends a request that stays open, without a deadline and beside the calls; returns its id. `ended` is told once and
   * never at once: with nothing for a result, else with what it was answered with or failed by.
   */
  stand(method: string, params: string, ended: (error?: Error) => void): number;
  /** Ends a request that stays open, without a word to its `ended`; `told`: the peer has ended it, so it is told nothing. */
  withdraw(id: number, told?: 'told'): void;
  /**
   * Ends one that another has replaced. True where each has a stream of its own: what was written on the old one may be
   * read after the other's first words, and is still passed on for `lingerMs`.
   */
  retire(id: number, lingerMs: number): boolean;
  /** While the peer waits for somebody else, only hard limits end a call; returns the way to go on. */
  hold(): () => void;
  /** True for an id that was given out once. */
  wasGiven(id: unknown): boolean;
  unexpected(kind: 'late' | 'unknown' | 'noise'): void;
  /** The peer is useless: ends the link. */
  fail(cause: Error): void;
}
