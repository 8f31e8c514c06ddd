import type { Heartbeat } from '../client/heartbeat.ts';
import { type DroppedMessage, type OpenSocket, openSocket, type SocketEnd } from '../client/socket.ts';
import type { Log } from '../ports/log.ts';
import type { Channel, Dial, Receiver } from '../ports/transport.ts';
import { MCP_SUBPROTOCOL } from '../protocol/subprotocol.ts';
import { untaken } from '../transport/untaken.ts';
import { HttpDelivery } from './http-delivery.ts';
import { tellOversize } from './oversize-answer.ts';

export interface WebSocketUpstreamOptions {
  /** ws or wss. */
  readonly url: string;
  /** Of the upgrade. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes; of a longer message only the request it answers fails, one of four times that ends the channel. */
  readonly maxMessage: number;
  readonly heartbeat: Heartbeat;
}

export interface WebSocketUpstreamDeps {
  readonly log: Log;
  /** The upstream's key, for the log. */
  readonly upstream: string;
}

/** A channel over one WebSocket, one message a text frame; it lives as long as the socket. A refused upgrade rejects with its HTTP status. */
export function dialWebSocket(options: WebSocketUpstreamOptions, deps: WebSocketUpstreamDeps): Dial {
  return async (receiver, signal) => {
    const log = deps.log.child({ upstream: deps.upstream });
    const ears = new Ears(options.maxMessage, log, receiver);
    const { headers, maxMessage, heartbeat } = options;
    const url = new URL(options.url);
    url.hash = '';
    const asked = { url, headers, maxMessage, heartbeat, protocols: [MCP_SUBPROTOCOL], inOneTurn: 'many' } as const;
    return channelOver(await openSocket(asked, ears, signal), ears);
  };
}

/** What the socket says, as the owner is to hear it: held while paused, `closed` without a cause once the owner has closed. */
class Ears {
  readonly delivery: HttpDelivery;
  closing = false;
  readonly #maxMessage: number;
  readonly #log: Log;

  constructor(maxMessage: number, log: Log, receiver: Receiver) {
    this.delivery = new HttpDelivery(receiver);
    this.#maxMessage = maxMessage;
    this.#log = log;
  }

  message(text: string): void {
    this.delivery.message(text);
  }

  dropped(message: DroppedMessage): void {
    if (this.closing) return;
    if (message.why === 'binary') this.#log.warn('upstream_binary_message', { bytes: message.bytes });
    else tellOversize(message, this.#maxMessage, this.#log, this.delivery);
  }

  closed({ code, reason, cause }: SocketEnd): void {
    if (this.closing) return this.delivery.closed();
    const how = `the peer closed with ${code}${reason === '' ? '' : ` ${reason}`}`;
    this.delivery.closed(new Error(how, cause === undefined ? {} : { cause }));
  }
}

function channelOver(socket: OpenSocket, ears: Ears): Channel {
  return {
    get backlog() {
      return socket.buffered;
    },
    get untaken() {
      return socket.stream === undefined ? socket.buffered : untaken(socket.stream);
    },
    send: (message) => socket.send(message),
    pause() {
      if (ears.closing) return;
      ears.delivery.pause();
      socket.pause();
    },
    resume() {
      ears.delivery.resume();
      if (!ears.delivery.paused) socket.resume();
    },
    close() {
      ears.closing = true;
      ears.delivery.silence();
      return socket.close();
    },
  };
}
