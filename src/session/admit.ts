import type { Request } from '../protocol/envelope.ts';
import { INVALID_REQUEST, METHOD_NOT_FOUND, type WireError } from '../protocol/errors.ts';
import { REFRESH_TOKEN } from '../protocol/token-extension.ts';

/** Where a session stands in the handshake (MCP 2025-11-25, Lifecycle). */
export type Phase = 'new' | 'initializing' | 'ready';

/** Which part of the gateway answers a request. */
export type Route = 'initialize' | 'ping' | 'control' | 'listen' | 'list' | 'data' | 'refresh';

export type Admission = { readonly route: Route } | { readonly refuse: WireError };

const ROUTES = new Map<string, Route>([
  ['initialize', 'initialize'],
  ['ping', 'ping'],
  ['logging/setLevel', 'control'],
  ['resources/subscribe', 'control'],
  ['resources/unsubscribe', 'control'],
  ['tools/list', 'list'],
  ['resources/list', 'list'],
  ['resources/templates/list', 'list'],
  ['prompts/list', 'list'],
  ['tools/call', 'data'],
  ['resources/read', 'data'],
  ['prompts/get', 'data'],
  ['completion/complete', 'data'],
  [REFRESH_TOKEN, 'refresh'],
]);

/** What the modern era has of its own. */
const MODERN_ROUTES = new Map<string, Route>([
  ['server/discover', 'control'],
  ['subscriptions/listen', 'listen'],
]);

/** Methods that may be a metric's label; every other is `other`. */
export const METHODS: ReadonlySet<string> = new Set([...ROUTES.keys(), ...MODERN_ROUTES.keys()]);

export const NOT_FOUND: WireError = { code: METHOD_NOT_FOUND, message: 'Method not found' };

/** Decides what a request of the handshake era may do in this phase. A probe is always answered, never closed: clients probe. */
export function admit(request: Request, phase: Phase): Admission {
  if (request.method === 'server/discover') return { refuse: NOT_FOUND };
  const route = ROUTES.get(request.method);
  if (phase === 'new') {
    return route === 'initialize' || route === 'ping' ? { route } : refuse('Send initialize first');
  }
  if (route === 'initialize') return refuse('Already initialized');
  return route === undefined ? { refuse: NOT_FOUND } : { route };
}

/** The same for the modern era, which has no phases and fewer methods. */
export function admitModern({ method }: Request): Admission {
  const own = MODERN_ROUTES.get(method);
  if (own !== undefined) return { route: own };
  const route = ROUTES.get(method);
  return route === 'list' || route === 'data' || route === 'refresh' ? { route } : { refuse: NOT_FOUND };
}

function refuse(message: string): Admission {
  return { refuse: { code: INVALID_REQUEST, message } };
}
