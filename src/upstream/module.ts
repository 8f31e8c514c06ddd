import { pathToFileURL } from 'node:url';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Log } from '../ports/log.ts';
import type { Channel, Dial } from '../ports/transport.ts';
import { loopbackPair } from '../transport/loopback.ts';
import { isSdk2, type Sdk2Server, serveSdk2 } from './module-sdk2.ts';
import { LoopbackTransport } from './module-transport.ts';

export interface ModuleOptions {
  /** Absolute path of a file whose default export, or export named `createServer`, is a function returning an MCP server. */
  readonly path: string;
}

export interface ModuleDeps {
  readonly log: Log;
  /** The upstream's key. */
  readonly upstream: string;
}

/** What we need of an SDK 1.x server, `Server` and `McpServer` alike. */
interface Connectable {
  connect(transport: Transport): Promise<void>;
}

type Made = { readonly sdk: 1; readonly server: Connectable } | { readonly sdk: 2; readonly server: Sdk2Server };

/**
 * A server in this process, unchanged, over a loopback pair. Each dial calls the function anew, so each channel has its
 * own server. One of SDK 2.x serves both eras, one of SDK 1.x the handshake era. Rejects with a sentence for the log when
 * the file cannot be loaded or does not export such a function.
 */
export function dialModule(options: ModuleOptions, deps: ModuleDeps): Dial {
  const log = deps.log.child({ upstream: deps.upstream });
  return async (receiver, signal) => {
    signal.throwIfAborted();
    const made = await createServer(options.path);
    signal.throwIfAborted();
    const [gatewayEnd, serverEnd] = loopbackPair();
    const transport = new LoopbackTransport(serverEnd, log);
    await serve(made, transport, options.path, log).catch((cause: unknown) => {
      throw new Error(`the server of ${options.path} does not connect`, { cause });
    });
    try {
      return untilBothEnd(await gatewayEnd(receiver, signal), transport);
    } catch (error) {
      await transport.close();
      throw error;
    }
  };
}

function serve(made: Made, transport: LoopbackTransport, path: string, log: Log): Promise<void> {
  if (made.sdk === 1) return made.server.connect(transport);
  const another = async (): Promise<Sdk2Server> => {
    const next = await createServer(path);
    if (next.sdk === 1) throw new Error(`the function exported by ${path} returned a server of another SDK`);
    return next.server;
  };
  return serveSdk2(made.server, transport, { path, another, log });
}

/** Closing resolves only when the server has been told as well. */
function untilBothEnd(channel: Channel, transport: LoopbackTransport): Channel {
  return {
    send: (message) => channel.send(message),
    pause: () => channel.pause(),
    resume: () => channel.resume(),
    async close() {
      await channel.close();
      await transport.ended;
    },
  };
}

async function createServer(path: string): Promise<Made> {
  const exported = await load(path);
  const factory = [exported.default, exported.createServer].find((value) => typeof value === 'function');
  if (factory === undefined) throw new Error(`${path} exports no function, neither as default nor as createServer`);
  const server: unknown = await Promise.resolve()
    .then(() => factory())
    .catch((cause: unknown) => {
      throw new Error(`the function exported by ${path} failed`, { cause });
    });
  if (!isConnectable(server)) throw new Error(`the function exported by ${path} returned no MCP server`);
  return isSdk2(server) ? { sdk: 2, server } : { sdk: 1, server };
}

async function load(path: string): Promise<{ default?: unknown; createServer?: unknown }> {
  try {
    return await import(pathToFileURL(path).href);
  } catch (cause) {
    throw new Error(`${path} cannot be loaded`, { cause });
  }
}

function isConnectable(value: unknown): value is Connectable {
  return typeof value === 'object' && value !== null && 'connect' in value && typeof value.connect === 'function';
}
