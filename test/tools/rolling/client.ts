import { setTimeout as after } from 'node:timers/promises';
import { type Closed, UpgradeRefusedError } from '../../../src/client/index.ts';
import type { CallerEra } from '../trial/caller.ts';
import { signToken } from '../trial/tokens.ts';
import { Conversation } from './conversation.ts';
import type { Ledger } from './ledger.ts';

/** Close codes after which a client comes back, with the hint or after a wait of its own; after any other it would not. */
const COMES_BACK = new Set([1001, 1011, 1013, 4429, 4430]);
/** Milliseconds between two calls, and that a call takes: each at least so long, and up to twice that. */
const PAUSE = 100;
const CALL = 150;
/** Where nothing says how long to wait, in milliseconds. */
const WAIT = 1000;

/** A client at work, as docs/PROTOCOL.md wants one: it comes back as the close says, and says again only what was not taken. */
export class Client {
  /** Results in each phase. */
  readonly results = new Map<string, number>();
  private readonly url: string;
  private readonly sub: string;
  private readonly era: CallerEra;
  private readonly ledger: Ledger;
  private conversation: Conversation | undefined;
  /** A call that nobody has taken: the next one is this one again. */
  private untaken: string | undefined;
  private stopped = false;
  private work: Promise<void> | undefined;
  private opened = 0;

  constructor(url: string, sub: string, era: CallerEra, ledger: Ledger) {
    this.url = url;
    this.sub = sub;
    this.era = era;
    this.ledger = ledger;
  }

  get isConnected(): boolean {
    return this.conversation?.isOpen === true;
  }

  start(): void {
    this.work = this.run().catch((error: unknown) => {
      this.ledger.wrong.push(`a client of ${this.sub} gave up: ${String(error)}`);
    });
  }

  /** Resolves when its last call has ended and it has gone. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.work;
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      const conversation = await this.dial();
      if (conversation === undefined) continue;
      this.conversation = conversation;
      if (this.opened > 0) this.ledger.reconnects.push(performance.now());
      this.opened += 1;
      await this.callUntilTold(conversation);
      if (this.stopped) return conversation.close();
      await this.comeBack(await conversation.ended);
    }
  }

  /** Undefined where it is to be tried again. */
  private async dial(): Promise<Conversation | undefined> {
    try {
      return await Conversation.open(this.url, await signToken({ sub: this.sub }), this.era);
    } catch (error) {
      const { status, retryAfterMs = WAIT } = error instanceof UpgradeRefusedError ? error : {};
      if (status !== undefined && status !== 429 && status !== 503) throw error;
      this.ledger.refused(status === undefined ? 'no connection' : `refused ${status}`);
      await after(spread(retryAfterMs));
      return undefined;
    }
  }

  /** One call after another, until the socket ends or a call is refused because it will. */
  private async callUntilTold(conversation: Conversation): Promise<void> {
    while (!this.stopped && conversation.isOpen) {
      const text = this.untaken ?? this.ledger.next();
      this.untaken = undefined;
      const ended = this.ledger.began(text);
      const end = await conversation.ask('tools/call', { name: 'work__slow', arguments: { text, ms: spread(CALL) } });
      ended(end);
      if (end.kind === 'result') this.results.set(this.ledger.phase, (this.results.get(this.ledger.phase) ?? 0) + 1);
      if (end.kind === 'lost') await this.lost(text, conversation);
      if (end.kind === 'error' && end.retryable) this.untaken = text;
      if (end.kind === 'error' && end.reason === 'draining') return;
      await after(spread(PAUSE));
    }
  }

  /** A gateway that drains closes when nothing is in flight: what has no answer by then was not taken. */
  private async lost(text: string, { ended }: Conversation): Promise<void> {
    if ((await ended).code === 1001) this.untaken = text;
  }

  private async comeBack({ code, retryAfterMs = WAIT }: Closed): Promise<void> {
    this.ledger.closed(code);
    if (!COMES_BACK.has(code)) this.ledger.wrong.push(`a socket was closed with ${code}`);
    await after(retryAfterMs * (1 + Math.random() / 10));
  }
}

function spread(ms: number): number {
  return Math.round(ms * (1 + Math.random()));
}
