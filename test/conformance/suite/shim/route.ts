import type { Frame } from './frame.ts';

/** Which POST a frame of the gateway belongs to, as the key of its request, or the GET stream. */
export type Route = { readonly post: string } | 'listening';

/**
 * Streamable HTTP puts what a call causes on that call's own stream; a WebSocket does not say what belongs together.
 * Answers go by id and progress by token. A request of the server or a log message belongs to the call in flight if
 * there is one alone. `calls`: the requests in flight, key to progress token.
 */
export function route(frame: Frame, calls: ReadonlyMap<string, string | undefined>): Route {
  if (frame.kind === 'response') return owner(frame.id, calls);
  if (frame.method === 'notifications/progress') {
    const asked = [...calls].find(([, token]) => token !== undefined && token === frame.token);
    return asked === undefined ? 'listening' : { post: asked[0] };
  }
  if (frame.kind === 'notification' && frame.method !== 'notifications/message') return 'listening';
  const [only, ...others] = calls.keys();
  return only === undefined || others.length > 0 ? 'listening' : { post: only };
}

function owner(id: string | undefined, calls: ReadonlyMap<string, unknown>): Route {
  return id !== undefined && calls.has(id) ? { post: id } : 'listening';
}
