import type { LinkEvents, Outgoing, Peer } from '../ports/link.ts';
import type { ClientCapabilities } from '../protocol/capabilities.ts';
import { requestText } from '../protocol/compose.ts';
import { idField, type Notification, numberField, type Response } from '../protocol/envelope.ts';
import { Fault } from '../protocol/errors.ts';
import { ACKNOWLEDGED, announcedKinds, type ListenKind } from '../protocol/listen.ts';
import { HEADER_MISMATCH, HeaderMismatch, UNSUPPORTED_VERSION } from '../protocol/modern.ts';
import { envelopedParams, envelopeMembers, inputMembers } from '../protocol/modern-request.ts';
import type { Dialect, Line } from './dialect.ts';
import { discover } from './discover.ts';
import { LIST_CHANGED } from './link-events.ts';
import { outgoingText } from './link-text.ts';
import { Listening, type ListeningDeps } from './listening.ts';

export interface ModernOptions {
  readonly capabilities: ClientCapabilities;
  /** Hears of changes of lists. */
  readonly hearsLists: boolean;
  /** Milliseconds for a request that prepares others. */
  readonly startTimeout: number;
}

export interface ModernDeps extends Pick<ListeningDeps, 'clock' | 'random' | 'log' | 'patience'> {
  /** The upstream has denied its era: whoever opens the next link finds out anew. */
  readonly distrust: () => void;
}

/** Errors about the envelope or the headers beside it, which are the link's, never a caller's (MCP 2026-07-28). */
const DISOWNING = [HEADER_MISMATCH, UNSUPPORTED_VERSION];

const NO_INPUTS: readonly string[] = [];

/** The era of 2026-07-28: an envelope on every request, one listen, a peer that asks nothing by itself. */
export class ModernDialect implements Dialect {
  private readonly line: Line;
  private readonly options: ModernOptions;
  private readonly events: LinkEvents;
  private readonly deps: ModernDeps;
  private readonly listening: Listening;
  /** The envelope of the gateway's own requests. */
  private readonly ownEnvelope: string;
  /** The envelope of relayed ones, as far as they say nothing of their own. */
  private envelope: string;
  private level: string | undefined;
  private kinds: readonly ListenKind[] = [];
  private logs = false;
  private checking = false;

  constructor(line: Line, options: ModernOptions, events: LinkEvents, deps: ModernDeps) {
    this.line = line;
    this.options = options;
    this.events = events;
    this.deps = deps;
    this.listening = new Listening({ ...deps, line, events });
    this.ownEnvelope = envelopeMembers(options.capabilities, undefined);
    this.envelope = this.ownEnvelope;
  }

  async open(): Promise<Peer> {
    const peer = await this.discover();
    this.logs = peer.capabilities.logging !== undefined;
    if (this.options.hearsLists) this.kinds = announcedKinds(peer.capabilities);
    return peer;
  }

  ready(): Promise<void> {
    return this.listening.hearLists(this.kinds);
  }

  own(id: number, method: string, params: string | undefined): string {
    return requestText(id, method, envelopedParams(params, this.ownEnvelope));
  }

  relayed(outgoing: Outgoing, id: number): string {
    const { declares, logLevel = this.level, inputs } = outgoing;
    const isOwn = declares === undefined || declares === this.options.capabilities;
    const isPlain = isOwn && logLevel === this.level;
    const envelope = isPlain ? this.envelope : envelopeMembers(declares ?? this.options.capabilities, logLevel);
    const brought = inputs === undefined ? NO_INPUTS : inputMembers(inputs.responses, inputs.state);
    return outgoingText(outgoing, id, { envelope, inputs: brought });
  }

  notify(): void {}

  subscribe(uri: string): Promise<void> {
    return this.listening.subscribe(uri);
  }

  async unsubscribe(uri: string): Promise<void> {
    this.listening.unsubscribe(uri);
  }

  async setLevel(level: string): Promise<void> {
    if (!this.logs) return;
    this.level = level;
    this.envelope = envelopeMembers(this.options.capabilities, level);
  }

  /** No server of this era may ask (MCP 2026-07-28, Server Requests): it gets no answer. */
  asked(): void {
    this.line.unexpected('unknown');
  }

  heard(notification: Notification): void {
    const { method, text, params } = notification;
    if (method === 'notifications/message') this.events.logged(notification);
    else if (method === ACKNOWLEDGED) this.listening.acknowledged(notification);
    else if (method === 'notifications/resources/updated' || LIST_CHANGED.has(method))
      this.listening.notice(notification);
    else if (method !== 'notifications/cancelled') this.events.vendor?.(notification);
    else if (!this.listening.cancelled(idField(text, params, 'requestId'))) this.line.unexpected('unknown');
  }

  disowned({ outcome, text, payload }: Response): Fault | undefined {
    const code = outcome === 'error' ? numberField(text, payload.inner, 'code') : undefined;
    if (code === undefined || !DISOWNING.includes(code)) return undefined;
    this.deps.distrust();
    void this.check();
    const cause = code === HEADER_MISMATCH ? new HeaderMismatch() : new Error(`the upstream answered ${code}`);
    return new Fault('upstream_unavailable', { cause });
  }

  close(): void {
    this.listening.close();
  }

  private discover(): Promise<Peer> {
    return discover((method) => this.line.ask(method, undefined, this.options.startTimeout));
  }

  /** A caller's tool can answer with any error: only a peer that no longer lets itself be discovered loses its link. */
  private async check(): Promise<void> {
    if (this.checking) return;
    this.checking = true;
    try {
      await this.discover();
    } catch (cause) {
      const saysNothing = cause instanceof Fault && cause.reason === 'timeout';
      if (!saysNothing) this.line.fail(new Error('the upstream has left its era', { cause }));
    } finally {
      this.checking = false;
    }
  }
}
