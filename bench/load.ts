import { once } from 'node:events';
import WebSocket from 'ws';

export interface Call {
  readonly tool: string;
  readonly data: string;
  readonly calls: number;
  readonly inFlight: number;
}

/** A connected, initialised client that only sends and compares text. */
export class Load {
  private readonly socket: WebSocket;
  private last = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
  }

  static async connect(url: string, token?: string): Promise<Load> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const socket = new WebSocket(url, ['mcp'], { headers });
    await once(socket, 'open');
    const load = new Load(socket);
    const clientInfo = { name: 'bench', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 'init', method: 'initialize', params }));
    await once(socket, 'message');
    socket.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    return load;
  }

  /** Runs the calls, `inFlight` at a time; every answer must be, byte for byte, what the server behind it said. */
  run({ tool, data, calls, inFlight }: Call): Promise<void> {
    const params = JSON.stringify({ name: tool, arguments: { data } });
    const result = JSON.stringify({ content: [{ type: 'text', text: data }] });
    const first = this.last + 1;
    const end = this.last + calls;
    const answered = new Set<number>();
    const send = () => {
      this.last += 1;
      this.socket.send(`{"jsonrpc":"2.0","id":${this.last},"method":"tools/call","params":${params}}`);
    };
    return new Promise((resolve, reject) => {
      const read = (frame: Buffer) => {
        const text = frame.toString();
        const id = Number(/^\{"jsonrpc":"2\.0","id":(\d+),/.exec(text)?.[1]);
        if (id < first || id > end || answered.has(id) || text !== `{"jsonrpc":"2.0","id":${id},"result":${result}}`) {
          this.socket.off('message', read);
          reject(new Error(`an answer differs: ${text.slice(0, 200)}`));
          return;
        }
        answered.add(id);
        if (this.last < end) send();
        if (answered.size < calls) return;
        this.socket.off('message', read);
        resolve();
      };
      this.socket.on('message', read);
      for (let sent = 0; sent < Math.min(inFlight, calls); sent += 1) send();
    });
  }

  close(): void {
    this.socket.terminate();
  }
}
