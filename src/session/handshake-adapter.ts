import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  InitializeRequestSchema,
  type JSONRPCMessage,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { ServerCapabilities } from '../protocol/capabilities.ts';
import { INVALID_PARAMS, type WireError } from '../protocol/errors.ts';
import { GATEWAY_NAME, GATEWAY_VERSION } from '../protocol/gateway-info.ts';

/** What the SDK session is given, by method; judged before, because the SDK answers a misfit with -32603. */
const SCHEMAS = new Map<string, { safeParse(value: unknown): { success: boolean } }>([
  ['initialize', InitializeRequestSchema],
  ['logging/setLevel', SetLevelRequestSchema],
  ['resources/subscribe', SubscribeRequestSchema],
  ['resources/unsubscribe', UnsubscribeRequestSchema],
]);

/** One validator for all sessions: each of its own would cost every idle socket 26 kB. */
const validator = new AjvJsonSchemaValidator();

export interface HandshakeOptions {
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
}

/** What the SDK session asks of the gateway. A rejection carries `code`, `message` and `data` for the wire. */
export interface ControlHandlers {
  setLevel(level: string): Promise<void>;
  /** Undone when `signal` aborts before it is done: nobody was told of it. */
  subscribe(uri: string, signal?: AbortSignal): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
}

export type ControlAnswer = { readonly result: string } | { readonly error: WireError };

/**
 * One socket's SDK 1.x server session. Requests go in under an internal id and come out as `answered`; it never issues
 * requests and says only what the gateway itself has to say.
 */
export class HandshakeAdapter {
  private readonly server: Server;
  private readonly transport: Transport;
  private readonly answered: (id: number, answer: ControlAnswer) => void;
  /** What `initialize` was answered with. */
  protocolVersion: string | undefined;

  constructor(
    options: HandshakeOptions,
    handlers: ControlHandlers,
    answered: (id: number, answer: ControlAnswer) => void,
  ) {
    const { capabilities, instructions } = options;
    this.answered = answered;
    this.server = new Server(
      { name: GATEWAY_NAME, version: GATEWAY_VERSION },
      {
        capabilities: { ...capabilities },
        jsonSchemaValidator: validator,
        ...(instructions === undefined ? {} : { instructions }),
      },
    );
    this.handle(capabilities, handlers);
    this.transport = {
      start: () => Promise.resolve(),
      send: (message) => Promise.resolve(this.out(message)),
      close: () => Promise.resolve(),
    };
  }

  /** Resolves once requests may be given; synchronous in effect, the SDK's signature is not. */
  open(): Promise<void> {
    return this.server.connect(this.transport);
  }

  /** Gives a request to the SDK session. `params` is a value, or undefined where the message has none. */
  request(id: number, method: string, params: unknown): void {
    if (SCHEMAS.get(method)?.safeParse({ method, params }).success === false) {
      return this.answered(id, { error: { code: INVALID_PARAMS, message: `Invalid params of ${method}` } });
    }
    this.in({ jsonrpc: '2.0', id, method, ...(isObject(params) ? { params } : {}) });
  }

  /** Aborts a request given before; nothing is answered for it. */
  cancel(id: number): void {
    this.in({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
  }

  initialized(): void {
    this.in({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  close(): void {
    this.transport.onclose?.();
  }

  private handle({ logging, resources }: ServerCapabilities, handlers: ControlHandlers): void {
    if (logging !== undefined) {
      this.server.setRequestHandler(SetLevelRequestSchema, ({ params }) => handlers.setLevel(params.level).then(empty));
    }
    if (resources?.subscribe === true) {
      this.server.setRequestHandler(SubscribeRequestSchema, ({ params }, { signal }) =>
        handlers.subscribe(params.uri, signal).then(empty),
      );
      this.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) =>
        handlers.unsubscribe(params.uri).then(empty),
      );
    }
  }

  private in(message: JSONRPCMessage): void {
    this.transport.onmessage?.(message);
  }

  private out(message: JSONRPCMessage): void {
    if (!('id' in message) || typeof message.id !== 'number') return;
    if ('result' in message) {
      const { protocolVersion } = message.result;
      if (typeof protocolVersion === 'string') this.protocolVersion ??= protocolVersion;
      this.answered(message.id, { result: JSON.stringify(message.result) });
    } else if ('error' in message) this.answered(message.id, { error: message.error });
  }
}

function empty(): Record<string, never> {
  return {};
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
