import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import websocket, { type WebSocket } from '@fastify/websocket';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { metadataPaths, protectedResourceMetadata, type ResourceOptions } from '../auth/challenge.ts';
import { type Identity, type Principal, principalKey, principalOf } from '../auth/principal.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import { MCP_SUBPROTOCOL } from '../protocol/subprotocol.ts';
import { anonymous } from './anonymous.ts';
import { type Authenticate, type Certify, noTokenRefusal } from './authenticate.ts';
import { httpsServers } from './https-server.ts';
import { judgeUpgrade } from './judge-upgrade.ts';
import type { Pending } from './pending.ts';
import { REFUSALS, type Refused } from './refusals.ts';
import type { Slots } from './slots.ts';
import type { Tls } from './tls.ts';

export interface UpgradeOptions {
  readonly path: string;
  /** Bytes; a larger message ends the socket with 1009. */
  readonly maxMessage: number;
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  readonly anonymousRoles: readonly string[];
  /** Absent in anonymous mode. */
  readonly jwt?: JwtParts;
  /** Absent: the listener speaks plain HTTP. */
  readonly tls: Tls | undefined;
}

interface JwtParts {
  readonly resource: ResourceOptions;
  readonly authenticate: Authenticate;
  /** Asked where an upgrade carries no token: a token decides alone. */
  readonly certify: Certify;
}

export interface UpgradeDeps {
  readonly slots: Slots;
  readonly pending: Pending;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly draining: () => boolean;
  /** Binds an upgraded socket, synchronously. */
  readonly accept: (session: string, principal: Principal, socket: WebSocket, stream: Socket) => void;
}

interface Admitted {
  readonly session: string;
  readonly principal: Principal;
}

/** Milliseconds and bytes. */
const REQUEST_LIMITS = { maxHeaderSize: 32 * 1024, headersTimeout: 10_000, requestTimeout: 10_000 };

/** The main listener: the WebSocket route, in jwt mode the RFC 9728 document, and nothing else. Not yet listening. */
export async function upgradeServer(options: UpgradeOptions, deps: UpgradeDeps): Promise<FastifyInstance> {
  const { tls } = options;
  const https = tls === undefined ? undefined : httpsServers(tls, REQUEST_LIMITS, deps);
  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    bodyLimit: 1,
    requestTimeout: REQUEST_LIMITS.requestTimeout,
    http: REQUEST_LIMITS,
    ...(https === undefined ? {} : { serverFactory: https.serverFactory }),
    frameworkErrors: (_error, request, reply) => badRequest(request, reply),
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not_found' }));
  app.setErrorHandler((err, _request, reply) => {
    deps.log.error('upgrade_failed', { err });
    return reply.code(500).send({ error: 'internal' });
  });
  await app.register(websocket, {
    options: {
      maxPayload: options.maxMessage,
      perMessageDeflate: false,
      handleProtocols: (offered: Set<string>) => (offered.has(MCP_SUBPROTOCOL) ? MCP_SUBPROTOCOL : false),
    },
    // Also called for what a bound socket's peer does wrong, which is the binding's to answer.
    errorHandler: (err, socket) => {
      if (socket.listenerCount('message') > 0) return;
      deps.log.error('session_open_failed', { err });
      socket.close(1011, 'internal');
    },
    preClose: (done) => done(),
  });
  if (https !== undefined) app.addHook('preClose', async () => https.cut());
  // After the plugin's own hook, which makes a refused upgrade's socket end; before any body is read.
  app.addHook('onRequest', async (request, reply) => {
    const [path] = request.url.split('?');
    // Whatever is a GET route can be upgraded as far as the plugin is concerned: only one may be.
    if (request.method === 'GET' && !(request.ws && path !== options.path)) return;
    if (path !== options.path) return reply.code(404).send({ error: 'not_found' });
    return reply.code(405).header('allow', 'GET').send({ error: 'method_not_allowed' });
  });
  webSocketRoute(app, options, deps);
  if (options.jwt !== undefined) metadataRoutes(app, options.jwt.resource);
  return app;
}

/** For a URL that cannot be decoded. No hook runs for it, so the socket of an upgrade is ended here. */
function badRequest({ raw }: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  reply.raw.once('finish', () => raw.socket.destroySoon());
  reply.raw.writeHead(400, { connection: 'close', 'content-type': 'application/json' }).end('{"error":"bad_request"}');
}

function webSocketRoute(app: FastifyInstance, options: UpgradeOptions, deps: UpgradeDeps): void {
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  const judge = upgradeJudge(options, deps);
  app.route({
    method: 'GET',
    url: options.path,
    preValidation: async (request, reply) => {
      const startedAt = deps.clock.elapsed();
      const verdict = request.ws ? await judge(request) : ({ refused: 'not_an_upgrade' } as const);
      const outcome = 'refused' in verdict ? 'refused' : 'accepted';
      deps.meter.histogram('upgrade_duration_seconds', { outcome }).observe((deps.clock.elapsed() - startedAt) / 1000);
      if ('refused' in verdict) return refuse(verdict, reply, deps);
      admitted.set(request, verdict);
      return undefined;
    },
    handler: (_request, reply) => reply.code(426).send({ error: 'not_an_upgrade' }),
    wsHandler: (socket, request) => {
      const found = admitted.get(request);
      if (found === undefined) return socket.close(1011, 'internal');
      deps.accept(found.session, found.principal, socket, request.raw.socket);
    },
  });
}

function upgradeJudge(
  options: UpgradeOptions,
  deps: UpgradeDeps,
): (request: FastifyRequest) => Promise<Admitted | Refused> {
  const rules = { hosts: options.hosts, origins: options.origins, anonymous: options.jwt === undefined };
  const { draining, pending, slots } = deps;
  return async (request) => {
    if (draining()) return { refused: 'draining' };
    if (pending.isFull) return { refused: 'pending' };
    const { headers, headersDistinct, socket, url = '' } = request.raw;
    const query = url.includes('?') ? url.slice(url.indexOf('?')) : '';
    const judged = judgeUpgrade({ headers, authorization: headersDistinct.authorization, query }, rules);
    if ('refused' in judged) return judged;
    const session = randomUUID();
    const identified =
      options.jwt === undefined
        ? { identity: anonymous(session, options.anonymousRoles) }
        : await identify(judged.token, socket, options.jwt, pending);
    if ('refused' in identified) return identified;
    if (draining()) return { refused: 'draining' };
    return admit(request, session, identified.identity, slots);
  };
}

/** By the token, or by the certificate where there is no token: a token that is refused is not made good by a certificate. */
async function identify(
  token: string | null,
  socket: Socket,
  { authenticate, certify, resource }: JwtParts,
  pending: Pending,
): Promise<{ identity: Identity } | Refused> {
  if (token === null) {
    const certified = certify(socket);
    return 'identity' in certified ? certified : noTokenRefusal(resource);
  }
  pending.enter();
  try {
    return await authenticate(token);
  } finally {
    pending.leave();
  }
}

/** The last step before 101: a slot, held until the TCP socket is gone, whatever becomes of the upgrade. */
function admit(request: FastifyRequest, session: string, identity: Identity, slots: Slots): Admitted | Refused {
  const { socket } = request.raw;
  const slot = slots.reserve(principalKey(identity));
  if (typeof slot === 'string') return { refused: slot };
  if (socket.destroyed) slot();
  else socket.once('close', slot);
  return { session, principal: principalOf(identity, { address: socket.remoteAddress ?? '', via: 'websocket' }) };
}

function refuse(verdict: Refused, reply: FastifyReply, { log, meter }: UpgradeDeps): FastifyReply {
  const { refused, challenge, cause, retryAfterMs } = verdict;
  const { status, retryAfter } = REFUSALS[refused];
  meter.counter('connections_refused_total', { reason: refused }).add();
  log.info('upgrade_refused', { reason: refused, ...(cause === undefined ? {} : { err: cause }) });
  if (challenge !== undefined) reply.header('www-authenticate', challenge);
  if (retryAfter !== null) {
    const seconds = retryAfterMs === undefined ? retryAfter : Math.max(1, Math.ceil(retryAfterMs / 1000));
    reply.header('retry-after', String(seconds));
  }
  if (refused === 'not_an_upgrade') reply.header('upgrade', 'websocket');
  return reply.code(status).send({ error: refused });
}

function metadataRoutes(app: FastifyInstance, resource: ResourceOptions): void {
  const document = protectedResourceMetadata(resource);
  for (const path of metadataPaths(resource.resource)) {
    app.get(path, (_request, reply) => reply.header('cache-control', 'public, max-age=3600').send(document));
  }
}
