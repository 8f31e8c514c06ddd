import { pathToFileURL } from 'node:url';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Log } from '../ports/log.ts';
import type { Channel, Dial, Receiver } from '../ports/transport.ts';
import { loopbackPair } from '../transport/loopback.ts';

export interface ModuleOptions {
  /** Absolute path of a file whose default export, or export named `createServer`, is a function returning an MCP server. */
  readonly path: string;
}

export interface ModuleDeps {
  readonly log: Log;
  /** The upstream's key. */
  readonly upstream: string;
}

/** What we need of an SDK server, `Server` and `McpServer` alike. */
interface Connectable {
  connect(transport: Transport): Promise<void>;
}

/**
 * A server in this process, unchanged, over a loopback pair. Each dial calls the function anew, so each channel has its
 * own server. Rejects with a sentence for the log when the file cannot be loaded or does not export such a function.
 */
export function dialModule(options: ModuleOptions, deps: ModuleDeps): Dial {
  const log = deps.log.child({ upstream: deps.upstream });
  return async (receiver, signal) => {
    signal.throwIfAborted();
    const server = await createServer(options.path);
    signal.throwIfAborted();
    const [gatewayEnd, serverEnd] = loopbackPair();
    const transport = new LoopbackTransport(serverEnd, log);
    await server.connect(transport).catch((cause: unknown) => {
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

async function createServer(path: string): Promise<Connectable> {
  const exported = await load(path);
  const factory = [exported.default, exported.createServer].find((value) => typeof value === 'function');
  if (factory === undefined) throw new Error(`${path} exports no function, neither as default nor as createServer`);
  const server: unknown = await Promise.resolve()
    .then(() => factory())
    .catch((cause: unknown) => {
      throw new Error(`the function exported by ${path} failed`, { cause });
    });
  if (!isConnectable(server)) throw new Error(`the function exported by ${path} returned no MCP server`);
  return server;
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

/** The SDK's side of the pair. What the server's own callbacks throw goes to the log: they run in this process. */
class LoopbackTransport implements Transport {
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

  async send(message: JSONRPCMessage): Promise<void> {
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
