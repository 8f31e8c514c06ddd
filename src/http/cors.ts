import type { FastifyReply, FastifyRequest } from 'fastify';
import { judgePlace, type UpgradeRules } from './judge-upgrade.ts';

/** Seconds a browser may go on without asking again. */
const MAX_AGE = 600;

/**
 * The headers of every answer to a request that pages of other origins may make (Fetch standard, CORS protocol). A page
 * at a listed Origin may read the answer, no other; cookies are never asked for, and no answer is the same for all origins.
 */
export function shareWithListed({ raw }: FastifyRequest, reply: FastifyReply, rules: UpgradeRules): void {
  reply.header('vary', 'origin').header('cache-control', 'no-store');
  const { origin } = raw.headers;
  if (origin === undefined || judgePlace(raw, rules) !== undefined) return;
  reply.header('access-control-allow-origin', origin);
  reply.header('access-control-expose-headers', 'retry-after, www-authenticate');
}

/** What a page may send, told before it sends it. Only where `shareWithListed` has let it be read does a browser heed it. */
export function answerPreflight(reply: FastifyReply): FastifyReply {
  reply.header('access-control-allow-methods', 'POST');
  reply.header('access-control-allow-headers', 'authorization');
  reply.header('access-control-max-age', String(MAX_AGE));
  return reply.code(204).send();
}
