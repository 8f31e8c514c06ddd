import type { Cancel, Clock } from '../ports/clock.ts';
import type { LinkEvents } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';
import { notificationText } from '../protocol/compose.ts';
import { type Id, type Notification, readMessage, stringField } from '../protocol/envelope.ts';
import { AnsweredError, Fault, INVALID_PARAMS, METHOD_NOT_FOUND } from '../protocol/errors.ts';
import { type Filter, honoredBy, LISTEN, type ListenKind, listenParams, subscriptionId } from '../protocol/listen.ts';
import { backoff } from './backoff.ts';
import type { Line } from './dialect.ts';
import { LIST_CHANGED } from './link-events.ts';
import { type Acknowledged, ReplacedListen } from './replaced-listen.ts';
import { Wanted } from './wanted.ts';

export interface ListeningDeps {
  readonly line: Pick<Line, 'stand' | 'withdraw' | 'retire' | 'wasGiven' | 'unexpected'>;
  readonly events: Pick<LinkEvents, 'listChanged' | 'updated'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Milliseconds for an acknowledgement. */
  readonly patience: number;
}

interface Listen {
  readonly id: number;
  readonly asked: Filter;
  readonly endPatience: Cancel;
}

/** How long a fresh link waits for its first acknowledgement. Milliseconds. */
const READY_MS = 1000;
/** A listen that lived this long did not fail. */
const STABLE_MS = 10_000;
const REFUSED = new AnsweredError({ code: INVALID_PARAMS, message: 'Invalid params: the resource cannot be heard' });

/**
 * What one modern link listens to, in one `subscriptions/listen` (MCP 2026-07-28, Subscriptions). A change of it opens
 * another listen, and ends the one before only when that is acknowledged; one at a time, for all changes meanwhile.
 */
export class Listening {
  private readonly deps: ListeningDeps;
  private readonly wanted = new Wanted();
  private kinds: readonly ListenKind[] = [];
  /** The listen that counts: acknowledged, not replaced. */
  private current: Acknowledged | undefined;
  private readonly replaced: ReplacedListen;
  private next: Listen | undefined;
  /** Changes may have gone unheard since a listen was acknowledged last. */
  private gap = false;
  private failures = 0;
  private scheduled = false;
  private closed = false;
  private stopRetry: Cancel = () => {};
  private settled: () => void = () => {};

  constructor(deps: ListeningDeps) {
    this.deps = deps;
    this.replaced = new ReplacedListen(deps.line, deps.clock);
  }

  /** From now on hears of changes of these lists; resolves when that is acknowledged, refused, or takes too long. */
  async hearLists(kinds: readonly ListenKind[]): Promise<void> {
    this.kinds = kinds;
    if (kinds.length === 0 || this.closed) return;
    this.renew();
    await new Promise<void>((resolve) => {
      const cancel = this.deps.clock.after(READY_MS, () => {
        this.gap = true;
        resolve();
      });
      this.settled = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Resolves when a listen that holds `uri` was acknowledged with it. Rejects with a Fault or an AnsweredError. */
  subscribe(uri: string): Promise<void> {
    if (this.closed) return Promise.reject(new Fault('upstream_closed'));
    if (this.wanted.isSettled(uri) && this.current?.honored.uris.has(uri) === true) return Promise.resolve();
    const heard = this.wanted.add(uri);
    this.change();
    return heard;
  }

  unsubscribe(uri: string): void {
    this.wanted.remove(uri);
    this.change();
  }

  acknowledged(notification: Notification): void {
    const { next } = this;
    if (next === undefined || subscriptionId(notification) !== next.id) return this.unexpected(notification);
    const honored = honoredBy(notification, next.asked);
    this.take();
    const before = this.current;
    this.current = { id: next.id, honored, since: this.deps.clock.elapsed() };
    this.replaced.replace(before, this.current);
    const fresh = this.wanted.answer(next.asked.uris, honored.uris, REFUSED);
    if (this.gap) this.tellGap(honored, fresh);
    this.settled();
    this.renew();
  }

  /** A change the upstream tells of. */
  notice(notification: Notification): void {
    const { current } = this;
    const id = subscriptionId(notification);
    const former = this.replaced.honored(id);
    if (current === undefined || (id !== current.id && former === undefined)) return this.unexpected(notification);
    const { kinds } = former ?? current.honored;
    const kind = LIST_CHANGED.get(notification.method);
    const uri = stringField(notification.text, notification.params, 'uri');
    const isHeard = uri !== undefined && former?.uris.has(uri) !== false;
    if (kind === undefined && isHeard) this.deps.events.updated(uri, notification);
    else if (kind !== undefined && kinds.includes(kind)) this.deps.events.listChanged(kind);
    else this.deps.line.unexpected(former === undefined ? 'unknown' : 'late');
  }

  /** The upstream ends a listen by cancelling it; false where `id` is none. */
  cancelled(id: Id | undefined): boolean {
    if (id === undefined || (id !== this.current?.id && id !== this.next?.id)) return false;
    this.deps.line.withdraw(Number(id), 'told');
    this.ended(Number(id));
    return true;
  }

  close(): void {
    this.closed = true;
    this.stopRetry();
    this.take();
    this.current = undefined;
    this.settled();
    this.wanted.fail(new Fault('upstream_closed'));
  }

  private change(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      this.renew();
    });
  }

  /** Makes the listen what is wanted, unless it is, or one is being opened already. */
  private renew(): void {
    const { current } = this;
    if (this.closed || this.next !== undefined) return;
    const { uris } = this.wanted;
    if (uris.size === 0 && this.kinds.length === 0) this.leave();
    else if (current === undefined || !isSame(current.honored.uris, uris)) this.open({ kinds: this.kinds, uris });
  }

  private leave(): void {
    this.stopRetry();
    if (this.current !== undefined) this.deps.line.withdraw(this.current.id);
    this.current = undefined;
    this.gap = false;
  }

  private open(asked: Filter): void {
    this.stopRetry();
    const { line, clock, patience } = this.deps;
    const id = line.stand(LISTEN, listenParams(asked), (error) => this.ended(id, error));
    const endPatience = clock.after(patience, () => {
      line.withdraw(id);
      this.ended(id, new Fault('timeout'));
    });
    this.next = { id, asked, endPatience };
  }

  /** A listen is over, not by us. */
  private ended(id: number, error?: Error): void {
    if (id === this.next?.id) this.refused(this.next, error);
    else if (id === this.current?.id) this.lost(this.current, error);
  }

  private refused({ asked }: Listen, error: Error | undefined): void {
    this.take();
    this.settled();
    this.gap = true;
    if (this.current === undefined) this.failures += 1;
    this.wanted.refuse(asked.uris, error instanceof Fault ? error : REFUSED);
    const isUnknown = error instanceof AnsweredError && error.error.code === METHOD_NOT_FOUND;
    this.deps.log.warn('listen_refused', { err: error });
    if (!isUnknown) this.retry();
  }

  private lost({ since }: Acknowledged, error: Error | undefined): void {
    this.current = undefined;
    this.gap = true;
    this.failures = this.deps.clock.elapsed() - since < STABLE_MS ? this.failures + 1 : 1;
    this.deps.log.warn('listen_ended', { err: error });
    if (this.next === undefined) this.retry();
  }

  private retry(): void {
    this.stopRetry();
    this.stopRetry = this.deps.clock.after(backoff(this.failures, this.deps.random()), () => this.renew());
  }

  /** What was honored before may have changed unheard; who has just subscribed reads it anyhow. */
  private tellGap({ kinds, uris }: Filter, fresh: ReadonlySet<string>): void {
    this.gap = false;
    for (const kind of kinds) this.deps.events.listChanged(kind);
    for (const uri of uris) if (!fresh.has(uri)) this.deps.events.updated(uri, updateOf(uri));
  }

  private take(): void {
    this.next?.endPatience();
    this.next = undefined;
  }

  private unexpected(notification: Notification): void {
    this.deps.line.unexpected(this.deps.line.wasGiven(subscriptionId(notification)) ? 'late' : 'unknown');
  }
}

function updateOf(uri: string): Notification {
  const message = readMessage(notificationText('notifications/resources/updated', JSON.stringify({ uri })), 8);
  if (message.kind !== 'notification') throw new Error('the gateway cannot read what it wrote');
  return message;
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((uri) => other.has(uri));
}
