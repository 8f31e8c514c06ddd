import { once } from 'node:events';
import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';

type Fields = Readonly<Record<string, unknown>>;

/** One request of the gateway, and the ways to answer it. Texts are sent as they are. */
export interface Asked {
  readonly id: string | number;
  readonly method: string;
  readonly params: Fields & { readonly _meta?: Fields };
  readonly link: ScriptedLink;
  result(value: object | string): void;
  error(value: object | string): void;
}

/** One connection of the gateway. */
export interface ScriptedLink {
  /** Everything it has sent, parsed, in order. */
  readonly heard: readonly Fields[];
  send(message: object | string): void;
  hangUp(): void;
  /** Resolves when the gateway, or `hangUp`, has ended it. */
  readonly closed: Promise<void>;
}

export interface ScriptedUpstream {
  /** Its entry of `mcpServers`. */
  readonly entry: Fields;
  /** In the order in which they were opened. */
  readonly links: readonly ScriptedLink[];
}

/** What it does with each method; one it has nothing for is no method. `initialize` opens 2025-11-25 unless it is here. */
export type Script = Readonly<Record<string, (asked: Asked) => void>>;

const CAPABILITIES = { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {}, logging: {} };

/** An MCP server over WebSocket that says exactly what its script does, right or wrong. Gone when the test ends. */
export async function scriptedUpstream(script: Script, more: Fields = {}): Promise<ScriptedUpstream> {
  const http = createServer();
  const server = new WebSocketServer({ server: http });
  const links: ScriptedLink[] = [];
  server.on('connection', (socket) => void links.push(linkOver(socket, { ...DEFAULTS, ...script })));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(async () => {
    for (const socket of server.clients) socket.terminate();
    http.close();
    await once(http, 'close');
  });
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return { entry: { url: `ws://127.0.0.1:${address.port}/mcp`, ...more }, links };
}

const listing =
  (key: string): Script[string] =>
  ({ result }) =>
    result({ [key]: [] });

const DEFAULTS: Script = {
  initialize: ({ result }) =>
    result({
      protocolVersion: '2025-11-25',
      capabilities: CAPABILITIES,
      serverInfo: { name: 'scripted', version: '1' },
    }),
  ping: ({ result }) => result({}),
  'logging/setLevel': ({ result }) => result({}),
  'tools/list': listing('tools'),
  'prompts/list': listing('prompts'),
  'resources/list': listing('resources'),
  'resources/templates/list': listing('resourceTemplates'),
};

function linkOver(socket: WebSocket, script: Script): ScriptedLink {
  const heard: Fields[] = [];
  const send: ScriptedLink['send'] = (message) =>
    socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const link = { heard, send, hangUp: () => socket.terminate(), closed };
  const methods = new Map(Object.entries(script));
  socket.on('error', () => {});
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString());
    heard.push(message);
    const { id, method, params = {} } = message;
    if (id === undefined || method === undefined) return;
    const answer = (key: 'result' | 'error') => (value: object | string) =>
      send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"${key}":${textOf(value)}}`);
    const act = methods.get(method) ?? (({ error }: Asked) => error({ code: -32601, message: 'Method not found' }));
    act({ id, method, params, link, result: answer('result'), error: answer('error') });
  });
  return link;
}

function textOf(value: object | string): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Lists these tools by name, on one page. */
export function offering(...names: readonly string[]): Script {
  const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }));
  return { 'tools/list': ({ result }) => result({ tools }) };
}
