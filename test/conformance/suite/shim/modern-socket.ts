import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type WebSocket from 'ws';
import { metaOf, SUBSCRIPTION, statusOf } from './envelope.ts';
import { startEvents, writeEvent } from './event-stream.ts';
import { type Frame, isRecord, keyOf, readFrame } from './frame.ts';
import { route } from './route.ts';

/** One POST under way. */
interface Exchange {
  readonly request: Frame;
  readonly response: ServerResponse;
}

/**
 * One WebSocket for the modern requests of one asker. Each goes out under an id of the shim's own, since callers on
 * HTTP need not agree on theirs; everything else passes as it came. Whoever hangs up has cancelled.
 */
export class ModernSocket {
  readonly #socket: WebSocket;
  readonly #exchanges = new Map<string, Exchange>();
  #ids = 0;

  /** `over` is called once, when the socket has closed. */
  constructor(socket: WebSocket, over: () => void) {
    this.#socket = socket;
    socket.on('message', (data) => this.#deliver(data.toString()));
    socket.on('error', () => socket.terminate());
    socket.once('close', () => {
      for (const { response } of this.#exchanges.values()) response.destroy();
      over();
    });
  }

  post(request: Frame, response: ServerResponse): void {
    if (request.kind !== 'request') {
      this.#socket.send(request.text);
      return void response.writeHead(202).end();
    }
    this.#ids += 1;
    const id = this.#ids;
    this.#exchanges.set(String(id), { request, response });
    response.once('close', () => {
      if (this.#exchanges.delete(String(id))) this.#cancel(id);
    });
    this.#socket.send(JSON.stringify({ ...request.message, id }));
  }

  async close(): Promise<void> {
    if (this.#socket.readyState === this.#socket.CLOSED) return;
    const closed = once(this.#socket, 'close');
    this.#socket.close(1000);
    await closed;
  }

  #cancel(requestId: number): void {
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }));
  }

  #deliver(text: string): void {
    const frame = readFrame(text);
    if (frame === undefined) return this.#socket.close(1007);
    const key = this.#owner(frame);
    const exchange = this.#exchanges.get(key ?? '');
    if (key === undefined || exchange === undefined) return;
    const { request, response } = exchange;
    if (frame.kind === 'response') {
      this.#exchanges.delete(key);
      return answer(response, { ...withIds(frame.message, request), id: request.message.id }, request);
    }
    if (!response.headersSent) startEvents(response, {});
    writeEvent(response, JSON.stringify(withIds(frame.message, request)));
  }

  /** What names a listen belongs to it; what names nothing belongs to the one call that is no listen. */
  #owner(frame: Frame): string | undefined {
    const subscription = keyOf(metaOf(frame.message)[SUBSCRIPTION]);
    if (subscription !== undefined) return subscription;
    const calls = [...this.#exchanges]
      .filter(([id, { request }]) => request.method !== 'subscriptions/listen' || id === frame.id)
      .map(([id, { request }]) => [id, request.token] as const);
    const where = route(frame, new Map(calls));
    return where === 'listening' ? undefined : where.post;
  }
}

/** JSON with a status of its own, unless a stream has begun. */
function answer(response: ServerResponse, message: Record<string, unknown>, request: Frame): void {
  const text = JSON.stringify(message);
  if (response.headersSent) {
    writeEvent(response, text);
    return void response.end();
  }
  response.writeHead(statusOf(message, request.message), { 'content-type': 'application/json' }).end(text);
}

/** The message with the caller's own id wherever it names a listen. */
function withIds(message: Frame['message'], request: Frame): Record<string, unknown> {
  const { id } = request.message;
  const named = (value: unknown) =>
    isRecord(value) && isRecord(value._meta) && SUBSCRIPTION in value._meta
      ? { ...value, _meta: { ...value._meta, [SUBSCRIPTION]: id } }
      : value;
  const { params, result, ...rest } = message;
  return {
    ...rest,
    ...(params === undefined ? {} : { params: named(params) }),
    ...(result === undefined ? {} : { result: named(result) }),
  };
}
