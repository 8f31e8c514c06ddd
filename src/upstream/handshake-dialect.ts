import type { LinkEvents, Outgoing, Peer } from '../ports/link.ts';
import type { ClientCapabilities } from '../protocol/capabilities.ts';
import { requestText, resultText } from '../protocol/compose.ts';
import type { Notification, Request } from '../protocol/envelope.ts';
import type { Stamped } from '../protocol/rewrite.ts';
import type { Dialect, Line } from './dialect.ts';
import { handshake } from './handshake.ts';
import { tellEvents } from './link-events.ts';
import { outgoingText } from './link-text.ts';
import { Questions } from './questions.ts';

export interface HandshakeOptions {
  readonly capabilities: ClientCapabilities;
  /** Milliseconds for a request that prepares others. */
  readonly startTimeout: number;
}

/** What a modern client brings of another round means nothing here. */
const NO_INPUTS: Stamped = { inputs: [] };

/** The era of `initialize` (MCP 2024-10-07 to 2025-11-25): state per link, and a peer that may ask. */
export class HandshakeDialect implements Dialect {
  private readonly line: Line;
  private readonly options: HandshakeOptions;
  private readonly events: LinkEvents;
  private readonly questions: Questions;
  private logs = false;

  constructor(line: Line, options: HandshakeOptions, events: LinkEvents) {
    this.line = line;
    this.options = options;
    this.events = events;
    this.questions = new Questions({
      asked: events.asked,
      send: (text) => void line.send(text),
      say: (text) => line.say(text),
      hold: () => line.hold(),
    });
  }

  async open(): Promise<Peer> {
    const { capabilities, startTimeout } = this.options;
    const ask = (method: string, params: string) => this.line.ask(method, params, startTimeout);
    const peer = await handshake(ask, (text) => this.line.send(text), capabilities);
    this.logs = peer.capabilities.logging !== undefined;
    return peer;
  }

  async ready(): Promise<void> {}

  own(id: number, method: string, params: string | undefined): string {
    return requestText(id, method, params);
  }

  relayed(outgoing: Outgoing, id: number): string {
    return outgoingText(outgoing, id, NO_INPUTS);
  }

  notify(text: string): void {
    this.line.say(text);
  }

  async subscribe(uri: string): Promise<void> {
    await this.line.ask('resources/subscribe', JSON.stringify({ uri }));
  }

  async unsubscribe(uri: string): Promise<void> {
    await this.line.ask('resources/unsubscribe', JSON.stringify({ uri }));
  }

  async setLevel(level: string): Promise<void> {
    if (this.logs) await this.line.ask('logging/setLevel', JSON.stringify({ level }), this.options.startTimeout);
  }

  asked(request: Request): void {
    if (request.method === 'ping') this.line.send(resultText(request.id, '{}'));
    else this.questions.ask(request);
  }

  heard(notification: Notification): void {
    if (notification.method === 'notifications/cancelled') this.questions.cancelled(notification);
    else tellEvents(notification, this.events);
  }

  disowned(): undefined {}

  close(): void {
    this.questions.close();
  }
}
