import type { ClientCapabilities } from '../protocol/capabilities.ts';
import type { Notification, Request, Response } from '../protocol/envelope.ts';
import type { Era } from '../protocol/era.ts';
import type { Fault, WireError } from '../protocol/errors.ts';
import type { LogLevel } from '../protocol/log-level.ts';
import type { Mirrors } from '../protocol/mirrors.ts';
import type { ListKind } from './meter.ts';

/** One live, initialised MCP connection from the gateway to an upstream. */
export interface Link {
  readonly upstream: string;
  readonly isolation: 'session' | 'shared';
  readonly peer: Peer;
  /** Parameters of a call that its tool wants repeated are said beside it (`x-mcp-header`). */
  readonly mirrors: boolean;
  /** Requests under way. */
  readonly inFlight: number;
  /** Bytes written to the upstream that it has not taken. A write that has gone in part counts in full. */
  readonly backlog: number;
  /** A figure that is another one when part of such a write has gone. */
  readonly untaken: number;
  /**
   * A request of the gateway's own. Resolves with the JSON text of the result; rejects with a Fault, or with an
   * AnsweredError when the upstream answered with a JSON-RPC error. `params` is JSON text. Bounded by `timeoutMs`.
   */
  ask(method: string, params?: string, timeoutMs?: number): Promise<string>;
  /** Forwards a caller's request under an id of this link; exactly one of the reply's `answered` and `failed` is called, once, never synchronously. */
  relay(outgoing: Outgoing, reply: Reply): Relayed;
  /** Sends a notification; lost where the link is not live, or is of the modern era, which has no notifications of clients but cancellations. */
  notify(text: string): void;
  /**
   * From now on, and while the link lives, updates of `uri` are heard: by `resources/subscribe`, or by the link's one
   * `subscriptions/listen`, replaced without a gap. Rejects with a Fault or an AnsweredError.
   */
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
  /** The least level of log messages wanted (RFC 5424 names). On a modern link requests name it from now on; where the upstream does not log, nothing is done. */
  setLevel(level: string): Promise<void>;
  /**
   * Reads nothing more from the upstream until `resume`: its one client does not read. Meanwhile calls end only by their hard
   * limit, for their answers may be there unread. Both are idempotent, and for links of a session's own alone.
   */
  pause(): void;
  resume(): void;
  /** Ends the link. Calls in flight fail with upstream_closed. Idempotent. */
  close(): Promise<void>;
}

/** What an upstream said of itself in its answer to `initialize` or `server/discover`. */
export interface Peer {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions: string | undefined;
}

export interface Outgoing {
  readonly message: Request;
  /** What policy judged and the upstream is to see: its original name, the URI. */
  readonly name?: string | undefined;
  readonly uri?: string | undefined;
  /** Which parameters are said beside the message, where the link says any so. */
  readonly mirrors?: Mirrors | undefined;
  /** Only a modern link sends the rest; a handshake link leaves it out. What the request declares; absent: what the link does. */
  readonly declares?: ClientCapabilities | undefined;
  /** The level of the log messages wanted with this request; absent: the link's own. */
  readonly logLevel?: LogLevel | undefined;
  /** Of a request sent again after `input_required`: the JSON text of `inputResponses` and the upstream's own `requestState`. The message's own are never forwarded. */
  readonly inputs?: { readonly responses: string | undefined; readonly state: string | undefined } | undefined;
}

export interface Reply {
  /** `receivedAt` is the monotonic time at which the answer was read from the upstream. */
  answered(response: Response, receivedAt: number): void;
  /** Progress of this call, already in order; `token` is the link's own and is to be replaced by the caller's. */
  progress(notification: Notification): void;
  /** `again`: the upstream did not take the request, so it may be sent once more on a new link. */
  failed(fault: Fault, again: boolean): void;
}

export interface Relayed {
  /** Tells the upstream at once; nothing is said to the reply afterwards and a late answer is dropped and counted. `notification` is the caller's own cancellation, forwarded with the id replaced. */
  cancel(notification?: Notification): void;
  /** Monotonic time at which the request left for the upstream. */
  readonly sentAt: number;
}

/** Who opens a link of its own: one session. */
export interface LinkUser {
  readonly session: string;
  /** One text per (issuer, id): whose shares its links are counted in. */
  readonly principal: string;
  /** What the client behind it declared; its links declare the same. */
  readonly capabilities: ClientCapabilities;
  updated(upstream: string, uri: string): void;
  logged(upstream: string, notification: Notification): void;
  /** This user's own link says that a list changed. */
  listChanged(upstream: string, kind: ListKind): void;
  /** This user's own link is gone. */
  linkClosed(upstream: string): void;
  /** A notification of this user has been handed to its own link. */
  wrote(link: Link): void;
  /** An upstream asks the client something on this user's own link. Returns the way to withdraw the question. */
  asked(question: Question): Withdraw;
  /** A notification of an upstream that is meant for this client as it is (`notifications/elicitation/complete`). */
  notified(notification: Notification): void;
  /** A notification that is none of MCP's own, on this user's own link: whether it passes is for the user to judge. */
  vendor(upstream: string, notification: Notification): void;
}

/** A request of an upstream to the client behind its link. Exactly one of `answer` and `refuse` ends it, unless it is withdrawn first. */
export interface Question {
  readonly request: Request;
  /** The client's answer; its id is replaced by the upstream's. */
  answer(response: Response): void;
  refuse(error: WireError): void;
  /** Progress of the client on it; the token is replaced by the upstream's. */
  progress(notification: Notification): void;
}

/** The upstream no longer wants an answer, or is gone. `notification` is its own cancellation. Idempotent. */
export type Withdraw = (notification?: Notification) => void;

/** The one call a leased link serves at a time: what the upstream asks and says on it belongs to that call. */
export interface Tenant {
  asked(question: Question): Withdraw;
  logged(notification: Notification): void;
  /** Milliseconds for which the call has waited for its client; below zero while it does not. */
  readonly waited: number;
  /** Ends a call that waits, within this turn: somebody else needs its link. */
  displace(): void;
}

export interface Lease {
  readonly link: Link;
  /** Once. `clean`: the call ended by its answer, so the link may serve the next; otherwise it is closed. */
  release(clean: boolean): void;
}

/** How a session reaches the upstreams. */
export interface Links {
  /** True where `lease` gives a link that serves one call at a time: the upstream was of the handshake era when it was last met. */
  lends(upstream: string): boolean;
  /**
   * A link of the session's own that serves this call alone until it is released, initialised with all that the gateway
   * can carry, where the upstream is of the handshake era and not shared. Elsewhere it is the link `acquire` gives, whose
   * release does nothing. Rejects with a Fault: `at_capacity` when all the session's leases are in use.
   */
  lease(upstream: string, user: LinkUser, tenant: Tenant): Promise<Lease>;
  /** The link that serves this session: its own or the shared one. Rejects with a Fault; a ready link comes without a promise. */
  acquire(upstream: string, user: LinkUser): Link | Promise<Link>;
  /**
   * From now on the user hears of updates of `uri`, across reconnects, after each of which it hears one. Rejects with a
   * Fault or an AnsweredError. Subscribing twice is once.
   */
  subscribe(upstream: string, uri: string, user: LinkUser): Promise<void>;
  unsubscribe(upstream: string, uri: string, user: LinkUser): Promise<void>;
  /** Passes a log level to every link of the user's own, those to come included. Resolves when the present ones have it, or cannot be told. */
  setLevel(level: string, user: LinkUser): Promise<void>;
  /** Passes a notification of the client to every open link of its own, or to that of one upstream. */
  notify(text: string, user: LinkUser, upstream?: string): void;
  /** Reads nothing more from the links of this session's own, those to come included, until `resume` or `release`. */
  pause(session: string): void;
  resume(session: string): void;
  /** Closes this session's own links to one upstream, and ends its subscriptions there. The session may open others. */
  leave(upstream: string, session: string): void;
  /** Closes every link and ends every subscription of this session. */
  release(session: string): void;
}

/** Bytes written to upstreams that they have not taken: on links everybody uses, and by session on those of its own. */
export interface Backlogs {
  readonly shared: number;
  readonly own: Iterable<readonly [session: string, bytes: number]>;
}

/** What happens on a link outside the calls on it. Called in the link's order. */
export interface LinkEvents {
  listChanged(kind: ListKind): void;
  updated(uri: string, notification: Notification): void;
  logged(notification: Notification): void;
  /** Absent on a link that has no one client behind it: the upstream is then told at once that nobody can answer. */
  readonly asked?: (question: Question) => Withdraw;
  readonly notified?: (notification: Notification) => void;
  /** Any notification that is not told of above. Absent likewise. */
  readonly vendor?: (notification: Notification) => void;
  /** Once, last. `again`: the peer is there but has forgotten the MCP session, so it can be initialised anew at once. */
  closed(cause: Error | undefined, again: boolean): void;
}
