import type { IncomingMessage } from 'node:http';
import WebSocket from 'ws';

/** A refused upgrade. */
export interface Refused {
  readonly status: number;
}

/** The headers by which the gateway judges who is asking. */
const PASSED = ['host', 'origin', 'authorization'];

/** Upgrades in the name of an HTTP request: with its Host, Origin and token. Rejects when the gateway cannot be reached. */
export function dial(url: string, request: IncomingMessage): Promise<WebSocket | Refused> {
  const headers = Object.fromEntries(PASSED.flatMap((name) => entry(name, request.headers[name])));
  const socket = new WebSocket(url, ['mcp'], { headers });
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket));
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, { statusCode }) => {
      resolve({ status: statusCode ?? 502 });
      socket.terminate();
    });
  });
}

function entry(name: string, value: string | string[] | undefined): [string, string][] {
  return typeof value === 'string' ? [[name, value]] : [];
}
