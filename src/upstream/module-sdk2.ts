import { createRequire } from 'node:module';
import type { McpServer, Server } from '@modelcontextprotocol/server';
import type { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Log } from '../ports/log.ts';
import type { LoopbackTransport } from './module-transport.ts';

/** A server object of SDK 2.x, of this or another copy of the package. */
export type Sdk2Server = Server | McpServer;

/** The entry of SDK 2.x that serves both eras over one duplex transport. */
interface Entry {
  readonly serve: typeof serveStdio;
  /** The form in which this entry recognises the server. */
  readonly form: (server: Sdk2Server) => Sdk2Server;
}

const ENTRY = '@modelcontextprotocol/server/stdio';

/** Told by what SDK 1.x has not: its `Server` never says which version was negotiated. An `McpServer` holds a `Server`. */
export function isSdk2(value: object): value is Sdk2Server {
  const server = 'server' in value ? value.server : value;
  return typeof server === 'object' && server !== null && 'getNegotiatedProtocolVersion' in server;
}

export interface Sdk2Deps {
  /** Where the module is: its own copy of the package serves the objects made from it. */
  readonly path: string;
  /** Another server, for a connection that asks `server/discover` and then opens with `initialize` all the same. */
  readonly another: () => Promise<Sdk2Server>;
  readonly log: Log;
}

/**
 * Serves both eras over the transport: the first request decides, as the SDK has it; `connect()` called on the server
 * would speak the handshake era only. `first` is connected when that request comes; it is told of the end in any case.
 */
export async function serveSdk2(first: Sdk2Server, transport: LoopbackTransport, deps: Sdk2Deps): Promise<void> {
  const onerror = (err: unknown): void => deps.log.error('module_threw', { err });
  const { serve, form } = await entryFor(first, deps.path);
  let unused: Sdk2Server | undefined = first;
  const factory = async (): Promise<Sdk2Server> => {
    const server = unused ?? (await deps.another());
    unused = undefined;
    return form(server);
  };
  serve(factory, { transport, onerror });
  transport.ended.then(() => unused && bare(unused).onclose?.()).catch(onerror);
}

/**
 * The entry tells an `McpServer` by its class, so it takes a foreign copy's for a `Server` and fails. A foreign copy is
 * another installation, or the CommonJS build of this one; its own entry gets the `Server` within.
 */
async function entryFor(server: Sdk2Server, path: string): Promise<Entry> {
  const own = await import('@modelcontextprotocol/server');
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
  if (server instanceof own.McpServer || server instanceof own.Server) return { serve: serveStdio, form: itself };
  return { serve: foreignEntry(path) ?? serveStdio, form: bare };
}

function foreignEntry(path: string): typeof serveStdio | undefined {
  try {
    const exported: unknown = createRequire(path)(ENTRY);
    return isEntry(exported) ? exported.serveStdio : undefined;
  } catch {
    // The module has its server from a package that has a copy of its own: ours serves it, as far as the copies agree.
    return undefined;
  }
}

function isEntry(value: unknown): value is { readonly serveStdio: typeof serveStdio } {
  return typeof value === 'object' && value !== null && 'serveStdio' in value && typeof value.serveStdio === 'function';
}

function itself(server: Sdk2Server): Sdk2Server {
  return server;
}

function bare(server: Sdk2Server): Server {
  return 'server' in server ? server.server : server;
}
