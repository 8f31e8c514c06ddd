import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import type { WebSocket } from 'ws';

/** The shortest way to put an SDK 1.x server on a socket: reads as the SDK's own transports do, writes and forgets. */
export class SocketTransport implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>;
  onclose?: () => void;
  private readonly socket: WebSocket;

  constructor(socket: WebSocket) {
    this.socket = socket;
  }

  async start(): Promise<void> {
    this.socket.on('message', (data) => this.onmessage?.(JSONRPCMessageSchema.parse(JSON.parse(data.toString()))));
    this.socket.once('close', () => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.socket.send(JSON.stringify(message));
  }

  async close(): Promise<void> {
    this.socket.close();
  }
}
