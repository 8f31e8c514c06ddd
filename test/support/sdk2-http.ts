import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createMcpHandler, type McpHttpHandler, type McpServerFactory } from '@modelcontextprotocol/server';

/** One request as it came. */
export interface Seen {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

export interface Sdk2Http {
  readonly url: string;
  /** Every request so far, in order of arrival. */
  readonly seen: readonly Seen[];
  readonly notify: McpHttpHandler['notify'];
  /** Ends every subscription with its result and every call. */
  closeHandler(): Promise<void>;
  close(): Promise<void>;
}

/** A real SDK 2.x server over Streamable HTTP on 127.0.0.1, a server object for each request. */
export async function openSdk2Http(factory: McpServerFactory): Promise<Sdk2Http> {
  const handler = createMcpHandler(factory);
  const seen: Seen[] = [];
  const http = createServer((request, response) => {
    seen.push({ method: request.method ?? '', headers: request.headers });
    answer(handler, request, response).catch(() => response.destroy());
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    notify: handler.notify,
    closeHandler: () => handler.close(),
    async close() {
      const closed = once(http, 'close');
      http.close();
      http.closeAllConnections();
      await Promise.all([closed, handler.close()]);
    },
  };
}

async function answer(handler: McpHttpHandler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]);
  const body = Buffer.concat(chunks);
  const url = `http://${incoming.headers.host}${incoming.url}`;
  const response = await handler.fetch(new Request(url, { method: 'POST', headers, body, signal: gone.signal }));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  else await pipeline(Readable.fromWeb(response.body), outgoing);
}
