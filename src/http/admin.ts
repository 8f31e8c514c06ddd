import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { carriedToken } from '../auth/carriage.ts';
import { defaultHosts, hostAllowed, isLoopbackHost } from '../policy/origin.ts';
import type { Change } from '../ports/bus.ts';
import { AdminAccount, type AdminAccountDeps } from './admin-account.ts';
import { askedChange, changesOf, SENTENCES } from './admin-change.ts';
import { ADMIN_REFUSALS, type AdminRefusal } from './admin-refusals.ts';
import { type AdminToken, openAdminToken } from './admin-token.ts';
import { bareServer } from './bare-server.ts';
import { type Address, type ListenOptions, listen } from './listen.ts';

export interface AdminOptions extends ListenOptions {
  readonly tokenFile: string;
}

export interface AdminDeps extends AdminAccountDeps {
  /** Tells every replica, this one included. Never waits and never throws. */
  readonly publish: (change: Change) => void;
  /** Keys of the upstreams that can be named. */
  readonly upstreams: readonly string[];
}

export interface Admin {
  readonly address: Address;
  close(): Promise<void>;
}

/** Of a body; a URI is shorter. */
const MAX_BODY_BYTES = 16 * 1024;

/**
 * The listener for changes that somebody outside knows of: POST /changes with a token, and nothing else. Rejects with one
 * sentence when it cannot listen or the token file holds no token.
 */
export async function startAdmin(options: AdminOptions, deps: AdminDeps): Promise<Admin> {
  const token = await openAdminToken(options.tokenFile, deps);
  const app = adminServer(options, token, deps);
  try {
    const address = await listen(app, options, 'admin');
    return { address, close: () => app.close().finally(token.close) };
  } catch (error) {
    token.close();
    throw error;
  }
}

function adminServer(options: AdminOptions, token: AdminToken, deps: AdminDeps): FastifyInstance {
  const app = bareServer(MAX_BODY_BYTES);
  const account = new AdminAccount(deps);
  const refuse: Refuse = (request, reply, word, message) => {
    account.refused(request, word);
    if (ADMIN_REFUSALS[word] === 401) reply.header('www-authenticate', 'Bearer');
    return reply.code(ADMIN_REFUSALS[word]).send({ error: word, ...(message === undefined ? {} : { message }) });
  };
  endConnections(app);
  app.addHook('onRequest', unless(placeJudge(options), refuse));
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => done(null, text));
  app.setErrorHandler((err, request, reply) => {
    const word = unreadable(err);
    if (word !== undefined) return refuse(request, reply, word, word === 'invalid' ? SENTENCES.body : undefined);
    deps.log.error('admin_request_failed', { request: request.id, err });
    return reply.code(500).send({ error: 'internal' });
  });
  app.post('/changes', { onRequest: unless(tokenJudge(token), refuse) }, (request, reply) => {
    const asked = askedChange(parsed(request.body));
    if ('problem' in asked) return refuse(request, reply, 'invalid', asked.problem);
    const changes = changesOf(asked, deps.upstreams);
    if (changes === undefined) return refuse(request, reply, 'unknown_upstream');
    for (const change of changes) deps.publish(change);
    account.published(request, asked, changes.length);
    return reply.code(202).send({ published: changes.length });
  });
  return app;
}

type Refuse = (request: FastifyRequest, reply: FastifyReply, word: AdminRefusal, message?: string) => FastifyReply;

/** How a request is refused before its change is looked at; undefined where it is not. */
type Judge = (request: FastifyRequest) => AdminRefusal | undefined;

function unless(judge: Judge, refuse: Refuse) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const word = judge(request);
    return word === undefined ? undefined : refuse(request, reply, word);
  };
}

/**
 * Who comes from a web page says so by `Origin`, and a page has no business here. On loopback a page could also reach this
 * listener by a name of its own (DNS rebinding). Beyond loopback names are the network's: any is good, for the token decides.
 */
function placeJudge({ host }: ListenOptions): Judge {
  const hosts = isLoopbackHost(host) ? defaultHosts({ resource: undefined, listenHost: host }) : ['*'];
  return ({ raw: { headers, headersDistinct } }) => {
    if (headers.origin !== undefined) return 'origin';
    return headersDistinct.host?.length === 1 && hostAllowed(headers.host, hosts) ? undefined : 'host';
  };
}

/** Asked before any of the body is read. */
function tokenJudge(token: AdminToken): Judge {
  return ({ raw: { headersDistinct } }) => {
    const carried = carriedToken({ authorization: headersDistinct.authorization, subprotocols: [], query: '' });
    if (!('token' in carried)) return 'no_token';
    return token.matches(carried.token) ? undefined : 'invalid_token';
  };
}

/** With each answer: nobody asks often, and what was not read of a body is not read to its end. */
function endConnections(app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply) => {
    reply.header('connection', 'close');
  });
}

/** Undefined for what is no JSON, which is no change either. */
function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** Why a body was not read. */
function unreadable(err: unknown): AdminRefusal | undefined {
  const status = typeof err === 'object' && err !== null && 'statusCode' in err ? err.statusCode : undefined;
  if (status === 413) return 'too_large';
  if (status === 415) return 'unsupported_media_type';
  return status === 400 ? 'invalid' : undefined;
}
