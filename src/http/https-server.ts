import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Tls } from './tls.ts';
import { type HandshakeDeps, watchHandshakes } from './tls-handshakes.ts';

export interface RequestLimits {
  /** Bytes of a request's headers. */
  readonly maxHeaderSize: number;
  /** Milliseconds they may take; a handshake may take as long before. */
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  /** Milliseconds between two looks at which are late. */
  readonly connectionsCheckingInterval: number;
  /** Milliseconds a page has between its preflight and its request for a ticket; nothing else is asked twice on a connection. */
  readonly keepAliveTimeout: number;
}

/** Makes the server of the main listener where it speaks TLS. */
export interface HttpsServers {
  readonly serverFactory: (handler: RequestListener) => Server;
  /** Cuts every connection, handshakes under way too, and each that still comes. */
  cut(): void;
}

export function httpsServers(tls: Tls, limits: RequestLimits, deps: HandshakeDeps): HttpsServers {
  const cuts: (() => void)[] = [];
  return {
    serverFactory: (handler) => {
      const server = createServer({ ...tls.options(), ...limits, handshakeTimeout: limits.headersTimeout }, handler);
      tls.serve(server);
      cuts.push(watchHandshakes(server, deps));
      return server;
    },
    cut: () => {
      for (const cut of cuts) cut();
    },
  };
}
