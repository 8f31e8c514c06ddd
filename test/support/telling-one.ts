import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished } from 'vitest';

export const NEWS = 'news://today';

/** A server that tells of a change the link alone whose call made it; with `everyone`, all of them. */
export interface TellingOne {
  readonly entry: Readonly<Record<string, unknown>>;
  /** Adds a tool and tells nobody. */
  addInSilence(tool: string): void;
  /** How often its tools have been listed. */
  readonly listings: number;
  /** Resolves when it could tell so many links. */
  hears(links: number): Promise<void>;
}

interface World {
  readonly tools: Set<string>;
  readonly servers: Set<Server>;
  readonly everyone: boolean;
  listings: number;
}

/** Over Streamable HTTP on 127.0.0.1, one server and one session for each link, until the test ends. */
export async function tellingOne(isolation: 'session' | 'shared', everyone = false): Promise<TellingOne> {
  const world: World = { tools: new Set(['add', 'touch']), servers: new Set(), everyone, listings: 0 };
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const streams = new Set<ServerResponse>();
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const id = request.headers['mcp-session-id'];
    const transport = typeof id === 'string' ? sessions.get(id) : await openSession(world, sessions);
    if (transport === undefined) return void response.writeHead(404).end();
    if (request.method === 'GET') {
      streams.add(response);
      response.once('close', () => streams.delete(response));
    }
    await transport.handleRequest(request, response);
  };
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    entry: { url: `http://127.0.0.1:${port}/mcp`, isolation },
    addInSilence: (tool) => void world.tools.add(tool),
    get listings() {
      return world.listings;
    },
    hears: (links) => expect.poll(() => streams.size).toBe(links),
  };
}

async function openSession(world: World, sessions: Map<string, StreamableHTTPServerTransport>) {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (session) => void sessions.set(session, transport),
  });
  const server = createTelling(world);
  world.servers.add(server);
  server.onclose = () => world.servers.delete(server);
  await server.connect(transport);
  return transport;
}

function createTelling(world: World): Server {
  const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } };
  const server = new Server({ name: 'telling', version: '1' }, { capabilities });
  const told = () => (world.everyone ? [...world.servers] : [server]);
  server.setRequestHandler(ListToolsRequestSchema, () => {
    world.listings += 1;
    return { tools: [...world.tools].map((name) => ({ name, inputSchema: { type: 'object' as const } })) };
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [{ uri: NEWS, name: 'news' }] }));
  server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    if (params.name === 'touch') for (const each of told()) await each.sendResourceUpdated({ uri: NEWS });
    else {
      world.tools.add(String(params.arguments?.name));
      for (const each of told()) await each.sendToolListChanged();
    }
    return { content: [{ type: 'text', text: 'done' }] };
  });
  return server;
}
