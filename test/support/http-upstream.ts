import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as it came, and the response to do with as the test pleases. */
export interface Exchange {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly response: ServerResponse;
}

export interface HttpUpstream {
  readonly url: string;
  /** Every request so far, in order of arrival. */
  readonly exchanges: readonly Exchange[];
  /** How many TCP connections are open. */
  connections(): Promise<number>;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
}

/** An HTTP server on 127.0.0.1 that misbehaves on command: `handle` answers, or does not. */
export async function openHttpUpstream(handle: (exchange: Exchange) => void): Promise<HttpUpstream> {
  const exchanges: Exchange[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    const exchange = { method: request.method ?? '', headers: request.headers, body, response };
    exchanges.push(exchange);
    handle(exchange);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    exchanges,
    connections: () => new Promise((resolve, reject) => server.getConnections((e, n) => (e ? reject(e) : resolve(n)))),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const INITIALIZE =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}';
export const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
export const INITIALIZE_ANSWER =
  '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"0"}}}';

export function callText(id: number, name = 'echo'): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}"}}`;
}

export function answerText(id: number): string {
  return `{"jsonrpc":"2.0","id":${id},"result":{"content":[]}}`;
}

/** What a well-behaved server without a listening stream does about everything but calls; those go to `onCall`. */
export function politely(onCall: (exchange: Exchange) => void, session = 's-1'): (exchange: Exchange) => void {
  return (exchange) => {
    const { method, body, response } = exchange;
    if (method === 'GET' && exchange.headers['last-event-id'] === undefined) return answerStatus(response, 405);
    if (method === 'DELETE') return answerStatus(response, 200);
    if (body.includes('"initialize"')) return answerJson(response, INITIALIZE_ANSWER, { 'mcp-session-id': session });
    if (body.includes('"notifications/')) return answerStatus(response, 202);
    onCall(exchange);
  };
}

export function answerStatus(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

export function answerJson(response: ServerResponse, text: string, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text);
}

/** Opens an event stream and leaves it open. */
export function startEvents(response: ServerResponse, first = ''): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.flushHeaders();
  if (first !== '') response.write(first);
}

/** A whole event stream. */
export function endEvents(response: ServerResponse, events: string): void {
  startEvents(response);
  response.end(events);
}
