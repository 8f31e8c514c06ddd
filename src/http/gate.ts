import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type Blocks, clientAddress, isTrusted } from '../policy/address.ts';
import type { HandshakeRates } from './handshake-rates.ts';
import type { Refused } from './refusals.ts';

export interface GateParts {
  readonly rates: HandshakeRates;
  /** Proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: Blocks;
  readonly draining: () => boolean;
  /** The event loop or memory is at its limit: open sockets go on, nobody else comes in. */
  readonly overloaded: () => boolean;
}

/**
 * What is asked of everybody who comes, over every listener, before anything of it is read: draining, pressure, how many
 * come in all, how many from one address. A connection counts once: over TLS when its handshake begins, else with its
 * first request; what it asks beside its first counts again.
 */
export class Gate {
  readonly #parts: GateParts;
  /** Connections whose handshake counted for the first request that is still to come. */
  readonly #counted = new WeakSet<Socket>();

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  /** Whose request it is; the peer's address or, behind a proxy that is believed, the one the proxy tells. */
  addressOf({ socket, headersDistinct }: IncomingMessage): string {
    const forwarded = headersDistinct['x-forwarded-for']?.join() ?? '';
    return clientAddress(socket.remoteAddress, forwarded, this.#parts.trustedProxies);
  }

  /** Of a TLS handshake that begins. A proxy's own address is not its callers'. */
  handshake(socket: Socket): Refused | undefined {
    const peer = peerAddress(socket);
    return this.#parts.rates.begins(this.#isProxy(peer) ? '' : peer);
  }

  /** Of a TLS handshake that is over: it has counted. */
  handshaken(socket: TLSSocket): void {
    this.#counted.add(socket);
  }

  judge(socket: Socket, address: string): Refused | undefined {
    const { draining, overloaded, rates } = this.#parts;
    if (draining()) return { refused: 'draining' };
    if (overloaded()) return { refused: 'overloaded' };
    if (!(socket instanceof TLSSocket && this.#counted.delete(socket))) return rates.begins(address);
    return this.#isProxy(peerAddress(socket)) ? rates.beginsBehind(address) : undefined;
  }

  #isProxy(peer: string): boolean {
    return isTrusted(peer, this.#parts.trustedProxies);
  }
}

/** Empty for a Unix socket. */
export function peerAddress({ remoteAddress }: Socket): string {
  return clientAddress(remoteAddress, '', []);
}
