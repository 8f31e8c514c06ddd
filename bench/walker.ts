import { once } from 'node:events';
import type WebSocket from 'ws';
import { z } from 'zod';
import { type Door, openSocket, paramsText, requestText } from './socket.ts';

const Answer = z.object({
  result: z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() }),
});

/** One page as it travelled: the cursor that asked for it, and the frame that came. */
export interface Page {
  readonly cursor: string | undefined;
  readonly frame: Buffer;
}

/** A connected client of the handshake era that walks the list of tools. */
export class Walker {
  private readonly socket: WebSocket;
  private readonly gone = new AbortController();

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.once('close', () => this.gone.abort(new Error('the socket closed')));
  }

  static async connect(door: Door): Promise<Walker> {
    return new Walker(await openSocket(door, 'handshake'));
  }

  /** All pages, following the cursors. */
  async learn(): Promise<Page[]> {
    const pages: Page[] = [];
    let cursor: string | undefined;
    do {
      const frame = await this.ask(pages.length, cursor);
      pages.push({ cursor, frame });
      cursor = resultOf(frame).nextCursor;
    } while (cursor !== undefined);
    return pages;
  }

  /** Walks the same list again; every frame must be, byte for byte, the one that came before. */
  async walk(pages: readonly Page[]): Promise<void> {
    for (const [at, { cursor, frame }] of pages.entries()) {
      const answer = await this.ask(at, cursor);
      if (!frame.equals(answer)) throw new Error(`page ${at} differs: ${answer.subarray(0, 200)}`);
    }
  }

  private async ask(id: number, cursor: string | undefined): Promise<Buffer> {
    this.socket.send(requestText(id, 'tools/list', paramsText({ cursor }, 'handshake')));
    const [frame] = await once(this.socket, 'message', { signal: this.gone.signal });
    return Buffer.from(frame);
  }
}

/** The result a page's frame carries. */
export function resultOf(frame: Buffer) {
  return Answer.parse(JSON.parse(frame.toString())).result;
}
