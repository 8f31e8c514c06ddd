import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { WebSocketServer } from 'ws';
import { z } from 'zod';
import { reportTo } from './report.ts';
import { SocketTransport } from './socket-transport.ts';
import { TOOLS } from './tools.ts';

/**
 * What a server written with SDK 1.x lists, one server session a socket: without an argument an `McpServer` with a thousand
 * tools, otherwise a low-level `Server` with the pages of the file the argument names.
 */
const Pages = z.array(z.object({ cursor: z.string().optional(), result: z.looseObject({ tools: z.array(z.any()) }) }));

const info = { name: 'bench', version: '1' };

function mcpServer(): McpServer {
  const server = new McpServer(info);
  for (const { name, ...config } of TOOLS) server.registerTool(name, config, () => ({ content: [] }));
  return server;
}

function pagedServer(file: string): () => Server {
  const pages = new Map(
    Pages.parse(JSON.parse(readFileSync(file, 'utf8'))).map(({ cursor, result }) => [cursor, result]),
  );
  return () => {
    const server = new Server(info, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, ({ params }) => pages.get(params?.cursor) ?? { tools: [] });
    return server;
  };
}

const [, , file] = process.argv;
const create = file === undefined ? mcpServer : pagedServer(file);
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('connection', (socket) => void create().connect(new SocketTransport(socket)));
server.on('listening', () => {
  const { port } = server.address() as AddressInfo;
  reportTo(`ws://127.0.0.1:${port}`);
});
