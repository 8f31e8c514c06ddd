import type WebSocket from 'ws';
import type { Era } from '../src/protocol/era.ts';
import { type Door, openSocket, paramsText, requestText } from './socket.ts';

export interface Call {
  readonly tool: string;
  readonly data: string;
  readonly calls: number;
  readonly inFlight: number;
}

/** A connected client that only sends and compares text. */
export class Load {
  private readonly socket: WebSocket;
  private readonly era: Era;
  private last = 0;

  private constructor(socket: WebSocket, era: Era) {
    this.socket = socket;
    this.era = era;
  }

  static async connect(door: Door, era: Era = 'handshake'): Promise<Load> {
    return new Load(await openSocket(door, era), era);
  }

  /** Runs the calls, `inFlight` at a time; every answer must be, byte for byte, what the server behind it said. */
  run({ tool, data, calls, inFlight }: Call): Promise<void> {
    const params = paramsText({ name: tool, arguments: { data } }, this.era);
    const shape = this.era === 'modern' ? { resultType: 'complete' } : {};
    const result = JSON.stringify({ ...shape, content: [{ type: 'text', text: data }] });
    const first = this.last + 1;
    const end = this.last + calls;
    const answered = new Set<number>();
    const send = () => {
      this.last += 1;
      this.socket.send(requestText(this.last, 'tools/call', params));
    };
    return new Promise((resolve, reject) => {
      const settle = (problem?: string) => {
        this.socket.off('message', read).off('close', gone);
        if (problem === undefined) resolve();
        else reject(new Error(problem));
      };
      const gone = (code: number) => settle(`the socket closed: ${code}`);
      const read = (frame: Buffer) => {
        const text = frame.toString();
        const id = Number(/^\{"jsonrpc":"2\.0","id":(\d+),/.exec(text)?.[1]);
        if (id < first || id > end || answered.has(id) || text !== `{"jsonrpc":"2.0","id":${id},"result":${result}}`)
          return settle(`an answer differs: ${text.slice(0, 200)}`);
        answered.add(id);
        if (this.last < end) send();
        if (answered.size === calls) settle();
      };
      if (this.socket.readyState !== this.socket.OPEN) return settle('the socket has closed');
      this.socket.on('message', read).once('close', gone);
      for (let sent = 0; sent < Math.min(inFlight, calls); sent += 1) send();
    });
  }

  close(): void {
    this.socket.terminate();
  }
}
