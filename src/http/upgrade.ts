import { randomUUID } from 'node:crypto';
import websocket from '@fastify/websocket';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { metadataPaths, protectedResourceMetadata, type ResourceOptions } from '../auth/challenge.ts';
import { MCP_SUBPROTOCOL } from '../protocol/subprotocol.ts';
import { takeAllHeaders } from './all-headers.ts';
import { httpsServers } from './https-server.ts';
import { limitSockets } from './limit-sockets.ts';
import { type Pressure, watchPressure } from './pressure.ts';
import { TICKET_METHODS, ticketPath, ticketRoute } from './ticket-route.ts';
import type { Tls } from './tls.ts';
import { type RouteDeps, type RouteOptions, webSocketRoute } from './upgrade-route.ts';

export interface UpgradeOptions extends RouteOptions {
  /** Bytes; a larger message ends the socket with 1009. */
  readonly maxMessage: number;
  /** Sockets the listener holds at once, whatever they are. */
  readonly maxSockets: number;
  readonly pressure: Pressure;
  /** Absent: the listener speaks plain HTTP. */
  readonly tls: Tls | undefined;
}

export type UpgradeDeps = RouteDeps;

/** Milliseconds and bytes. Node looks for what is late no more often than every half minute unless told to. */
const REQUEST_LIMITS = {
  maxHeaderSize: 32 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 1000,
};

/** The main listener: the WebSocket route, in jwt mode the RFC 9728 document and the tickets, and nothing else. Not yet listening. */
export async function upgradeServer(options: UpgradeOptions, deps: UpgradeDeps): Promise<FastifyInstance> {
  const { tls } = options;
  const https = tls === undefined ? undefined : httpsServers(tls, REQUEST_LIMITS, deps);
  const app = Fastify({
    logger: false,
    genReqId: () => randomUUID(),
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    bodyLimit: 1,
    requestTimeout: REQUEST_LIMITS.requestTimeout,
    keepAliveTimeout: REQUEST_LIMITS.keepAliveTimeout,
    http: REQUEST_LIMITS,
    ...(https === undefined ? {} : { serverFactory: https.serverFactory }),
    frameworkErrors: (_error, request, reply) => badRequest(request, reply),
  });
  takeAllHeaders(app.server);
  limitSockets(app.server, options.maxSockets, deps.meter);
  endConnections(app, options);
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not_found' }));
  app.setErrorHandler((err, { id: request }, reply) => {
    deps.log.error('upgrade_failed', { request, err });
    return reply.code(500).send({ error: 'internal' });
  });
  await watchPressure(app, options.pressure);
  await app.register(websocket, {
    options: {
      maxPayload: options.maxMessage,
      perMessageDeflate: false,
      handleProtocols: (offered: Set<string>) => (offered.has(MCP_SUBPROTOCOL) ? MCP_SUBPROTOCOL : false),
    },
    // Also called for what a bound socket's peer does wrong, which is the binding's to answer.
    errorHandler: (err, socket, { id: session }) => {
      if (socket.listenerCount('message') > 0) return;
      deps.log.error('session_open_failed', { session, err });
      socket.close(1011, 'internal');
    },
    preClose: (done) => done(),
  });
  if (https !== undefined) app.addHook('preClose', async () => https.cut());
  refuseOtherMethods(app, options);
  webSocketRoute(app, options, deps);
  const { jwt } = options;
  if (jwt !== undefined) {
    metadataRoutes(app, jwt.resource);
    ticketRoute(app, { ...options, jwt }, deps);
  }
  return app;
}

/** With each answer but a ticket's: who is not let in holds no connection. */
function endConnections(app: FastifyInstance, { path }: UpgradeOptions): void {
  const tickets = ticketPath(path);
  app.addHook('onSend', async ({ url }, reply) => {
    if (url.split('?')[0] !== tickets)
      reply.header('connection', reply.hasHeader('upgrade') ? 'upgrade, close' : 'close');
  });
}

/** After the plugin's own hook, which makes a refused upgrade's socket end; before any body is read. */
function refuseOtherMethods(app: FastifyInstance, { path, jwt }: UpgradeOptions): void {
  const tickets = jwt === undefined ? undefined : ticketPath(path);
  app.addHook('onRequest', async ({ method, url, ws }, reply) => {
    const [asked] = url.split('?');
    const allowed = asked === path ? ['GET'] : asked === tickets ? TICKET_METHODS : undefined;
    // Whatever is a GET route can be upgraded as far as the plugin is concerned: only one may be.
    if (ws ? asked === path && method === 'GET' : (allowed ?? ['GET']).includes(method)) return;
    if (allowed === undefined) return reply.code(404).send({ error: 'not_found' });
    return reply.code(405).header('allow', allowed.join(', ')).send({ error: 'method_not_allowed' });
  });
}

/** For a URL that cannot be decoded. No hook runs for it, so the socket of an upgrade is ended here. */
function badRequest({ raw }: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  reply.raw.once('finish', () => raw.socket.destroySoon());
  reply.raw.writeHead(400, { connection: 'close', 'content-type': 'application/json' }).end('{"error":"bad_request"}');
}

function metadataRoutes(app: FastifyInstance, resource: ResourceOptions): void {
  const document = protectedResourceMetadata(resource);
  for (const path of metadataPaths(resource.resource)) {
    app.get(path, (_request, reply) => reply.header('cache-control', 'public, max-age=3600').send(document));
  }
}
