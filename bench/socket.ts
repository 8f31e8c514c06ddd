import { once } from 'node:events';
import WebSocket from 'ws';
import type { Era } from '../src/protocol/era.ts';

export interface Door {
  readonly url: string;
  /** Absent where none is asked for. */
  readonly token?: string;
}

const clientInfo = { name: 'bench', version: '1' };
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const OPENINGS = {
  handshake: ['initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }],
  modern: ['server/discover', {}],
} as const;

/** A socket whose client has said what clients of its era say first, and was answered. */
export async function openSocket({ url, token }: Door, era: Era): Promise<WebSocket> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const socket = new WebSocket(url, ['mcp'], { headers, perMessageDeflate: false });
  await once(socket, 'open');
  const [method, params] = OPENINGS[era];
  socket.send(requestText('"open"', method, paramsText(params, era)));
  const [answer] = await once(socket, 'message');
  if (!('result' in JSON.parse(String(answer)))) throw new Error(`${method} was refused: ${answer}`);
  if (era === 'handshake') socket.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  return socket;
}

/** `id` and `params` are JSON texts. */
export function requestText(id: number | string, method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
}

/** The text of a request's parameters, with the envelope where the era wants one on every request. */
export function paramsText(params: object, era: Era): string {
  return JSON.stringify(era === 'modern' ? { ...params, _meta: ENVELOPE } : params);
}
