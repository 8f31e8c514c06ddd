import type { ServerResponse } from 'node:http';

/** Answers with an event stream and leaves it open. */
export function startEvents(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', ...headers });
  response.flushHeaders();
}

export function writeEvent(response: ServerResponse, message: string): void {
  response.write(`data: ${message}\n\n`);
}
