import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { expect, onTestFinished } from 'vitest';
import { stdioUpstream } from './gateway.ts';
import { createLibrary, makeWorld, type World, type WorldOptions } from './upstreams/library-server.mjs';

type Entry = Readonly<Record<string, unknown>>;

/** A library behind the gateway: its entry of `mcpServers` and what has happened to it. Gone when the test ends. */
export interface Library {
  readonly entry: Entry;
  lines(): readonly string[];
  /** Resolves when the gateway can hear what the library says unasked on this many links. */
  hears(links: number): Promise<void>;
}

export type OpenLibrary = (entry?: Entry, options?: WorldOptions) => Promise<Library>;

/** A process of its own. */
export async function stdioLibrary(entry: Entry = {}, options: WorldOptions = {}): Promise<Library> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-library-'));
  const path = join(directory, 'record');
  writeFileSync(path, '');
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return {
    entry: stdioUpstream('library.mjs', [path, JSON.stringify(options)], entry),
    lines: () => readFileSync(path, 'utf8').split('\n').slice(0, -1),
    hears: async () => {},
  };
}

export type Intercept = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

export interface HttpLibrary extends Library {
  /** Loses every session; what is sent under one is answered 404. */
  forget(): void;
  /** Stops listening and cuts every connection. */
  stop(): Promise<void>;
  /** Listens again where it did. */
  start(): Promise<void>;
  /** Sees every request first: true when it has answered, false to let it through. Without one all get through again. */
  intercept(intercept?: Intercept): void;
  /** Ends every event stream that answers a call, before the answer. */
  cutCalls(): void;
}

/** In this process over Streamable HTTP, a server and a session for each link. */
export async function httpLibrary(entry: Entry = {}, options: WorldOptions = {}): Promise<HttpLibrary> {
  const library = new HttpSide(makeWorld(options));
  await library.listen(0);
  onTestFinished(() => library.stop());
  return {
    entry: { url: `http://127.0.0.1:${library.port}/mcp`, ...entry },
    lines: () => library.record,
    hears: (links) => expect.poll(() => library.streams.size).toBe(links),
    forget: () => library.sessions.clear(),
    stop: () => library.stop(),
    start: () => library.listen(library.port),
    intercept: (intercept = through) => {
      library.intercept = intercept;
    },
    cutCalls: () => {
      for (const response of library.calls) response.destroy();
    },
  };
}

const through: Intercept = async () => false;

class HttpSide {
  readonly record: string[] = [];
  readonly sessions = new Map<string, StreamableHTTPServerTransport>();
  readonly streams = new Set<ServerResponse>();
  readonly calls = new Set<ServerResponse>();
  intercept: Intercept = through;
  port = 0;
  private readonly world: World;
  private server: Server | undefined;

  constructor(world: World) {
    this.world = world;
  }

  async listen(port: number): Promise<void> {
    const server = createServer((request, response) => void this.handle(request, response));
    this.server = server;
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address !== null && typeof address === 'object') this.port = address.port;
  }

  async stop(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (await this.intercept(request, response)) return;
    const id = request.headers['mcp-session-id'];
    const transport = typeof id === 'string' ? this.sessions.get(id) : await this.open();
    if (transport === undefined) return void response.writeHead(404).end();
    const open = request.method === 'GET' ? this.streams : this.calls;
    open.add(response);
    response.once('close', () => open.delete(response));
    await transport.handleRequest(request, response);
  }

  private async open(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => {
        this.record.push('session');
        this.sessions.set(id, transport);
      },
      onsessionclosed: (id) => void this.sessions.delete(id),
    });
    await createLibrary(this.world, (line) => this.record.push(line)).connect(transport);
    return transport;
  }
}
