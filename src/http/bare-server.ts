import { randomUUID } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';

const MAX_CONNECTIONS = 64;
const MAX_HEADER_BYTES = 8192;
const REQUEST_MS = 10_000;

/**
 * A listener for a few requests of operators: 64 connections, 8 KiB of headers, so many bytes of body, and 10 s from a
 * request's first byte to its last. What it has no route for is 404; no answer is kept. Not yet listening.
 */
export function bareServer(bodyLimit: number): FastifyInstance {
  const app = Fastify({
    logger: false,
    genReqId: () => randomUUID(),
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    bodyLimit,
    requestTimeout: REQUEST_MS,
    connectionTimeout: REQUEST_MS,
    // Node looks for what is late no more often than every half minute unless told to.
    http: { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: REQUEST_MS, connectionsCheckingInterval: 1000 },
    frameworkErrors: (_error, _request, reply) => {
      reply.hijack();
      reply.raw.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"bad_request"}');
    },
  });
  app.server.maxConnections = MAX_CONNECTIONS;
  // Whatever a body is, it is not parsed: where nothing parses it, the request ends as an unknown route.
  app.removeAllContentTypeParsers();
  app.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not_found' }));
  return app;
}
