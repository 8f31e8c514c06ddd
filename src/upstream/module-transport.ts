import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Log } from '../ports/log.ts';
import type { Channel, Dial, Receiver } from '../ports/transport.ts';

/**
 * The server's side of the loopback pair, a Transport to SDK 1.x and 2.x alike. What the server's own callbacks throw
 * goes to the log: they run in this process.
 */
export class LoopbackTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Resolves when the server has been told that the channel is over. */
  readonly ended: Promise<void>;
  readonly #dial: Dial;
  readonly #log: Log;
  #channel: Channel | undefined;
  #end = () => {};

  constructor(dial: Dial, log: Log) {
    this.#dial = dial;
    this.#log = log;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  async start(): Promise<void> {
    const receiver: Receiver = {
      message: (text) => this.#guarded(() => this.#receive(text)),
      failed() {},
      closed: () => {
        this.#guarded(() => this.onclose?.());
        this.#end();
      },
    };
    this.#channel = await this.#dial(receiver, new AbortController().signal);
  }

  async send(message: object): Promise<void> {
    if (this.#channel?.send(JSON.stringify(message)) !== true) throw new Error('the gateway has closed the channel');
  }

  async close(): Promise<void> {
    await this.#channel?.close();
  }

  #receive(text: string): void {
    const message: unknown = JSON.parse(text);
    if (isMessage(message)) this.onmessage?.(message);
  }

  #guarded(run: () => void): void {
    try {
      run();
    } catch (err) {
      this.#log.error('module_threw', { err });
    }
  }
}

/** Enough here: the gateway sends nothing that it has not judged in full. */
function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
}
