import { isJSONRPCRequest, type ServerCapabilities as SdkCapabilities, Server } from '@modelcontextprotocol/server';
import { type ServeStdioOptions, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { ListKind } from '../ports/meter.ts';
import { INVALID_PARAMS } from '../protocol/errors.ts';
import { GATEWAY_NAME, GATEWAY_VERSION } from '../protocol/gateway-info.ts';
import type { Announcement } from './control-plane.ts';

type Wire = NonNullable<ServeStdioOptions['transport']>;
export type WireMessage = Parameters<Wire['send']>[0];

/**
 * One socket's SDK 2.x server session: answers `server/discover` and `subscriptions/listen`, and stamps change notices for
 * the subscriptions they concern. Everything it says comes out of `said`, under the integer ids it was given.
 */
export class ModernAdapter {
  private readonly wire: Wire;
  private readonly server: Server;
  private readonly handle: { close(): Promise<void> };
  private readonly said: (message: WireMessage) => void;

  constructor(
    { capabilities, instructions }: Announcement,
    said: (message: WireMessage) => void,
    failed: (error: Error) => void,
  ) {
    const options = {
      capabilities: sdkCapabilities(capabilities),
      ...(instructions === undefined ? {} : { instructions }),
    };
    this.said = said;
    this.server = new Server({ name: GATEWAY_NAME, version: GATEWAY_VERSION }, options);
    this.wire = {
      start: () => Promise.resolve(),
      send: (message) => Promise.resolve(said(message)),
      close: () => Promise.resolve(),
    };
    this.handle = serveStdio(() => this.server, { transport: this.wire, legacy: 'reject', onerror: failed });
  }

  /** Judged before, because the SDK drops what is no request in its eyes, a progress token of another kind for one, without a word. */
  request(id: number, method: string, params: unknown): void {
    const message: WireMessage = { jsonrpc: '2.0', id, method, ...(isObject(params) ? { params } : {}) };
    if (isJSONRPCRequest(message)) this.in(message);
    else this.said({ jsonrpc: '2.0', id, error: { code: INVALID_PARAMS, message: `Invalid params of ${method}` } });
  }

  /** Ends a subscription or a request; nothing is answered for it. */
  cancel(id: number): void {
    this.in({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
  }

  listChanged(kind: ListKind): Promise<void> {
    return this.server.notification({ method: `notifications/${kind}/list_changed` });
  }

  updated(uri: string): Promise<void> {
    return this.server.notification({ method: 'notifications/resources/updated', params: { uri } });
  }

  /** Open subscriptions end with their result; resolves when that was said. */
  close(): Promise<void> {
    return this.handle.close();
  }

  private in(message: WireMessage): void {
    this.wire.onmessage?.(message);
  }
}

function sdkCapabilities({
  tools,
  prompts,
  resources,
  completions,
  logging,
  experimental,
  extensions,
}: Announcement['capabilities']): SdkCapabilities {
  return {
    ...(tools === undefined ? {} : { tools: { ...tools } }),
    ...(prompts === undefined ? {} : { prompts: { ...prompts } }),
    ...(resources === undefined ? {} : { resources: { ...resources } }),
    ...(completions === undefined ? {} : { completions: {} }),
    ...(logging === undefined ? {} : { logging: {} }),
    ...(experimental === undefined ? {} : { experimental: { ...experimental } }),
    ...(extensions === undefined ? {} : { extensions: { ...extensions } }),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
