import type { Asked, Script, ScriptedLink, ScriptedUpstream } from './scripted-upstream.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The script of an upstream of the modern era alone that lists the tool `act` and the resource `note://one`. */
export function modernScript(capabilities: Fields, more: Script = {}): Script {
  return {
    'server/discover': ({ result }) => result({ ...COMPLETE, supportedVersions: ['2026-07-28'], capabilities }),
    initialize: ({ error }) =>
      error({ code: -32022, message: 'no', data: { supported: ['2026-07-28'], requested: '2025-11-25' } }),
    'tools/list': ({ result }) => result({ ...COMPLETE, tools: [{ name: 'act', inputSchema: { type: 'object' } }] }),
    'resources/list': ({ result }) => result({ ...COMPLETE, resources: [{ uri: 'note://one', name: 'one' }] }),
    'resources/templates/list': ({ result }) =>
      result({ ...COMPLETE, resourceTemplates: [{ uriTemplate: 'note://{name}', name: 'note' }] }),
    ...more,
  };
}

const COMPLETE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

/** One `subscriptions/listen` it was sent. */
export interface HeardListen {
  readonly id: number;
  readonly notifications: Fields;
  readonly link: ScriptedLink;
}

/** Every listen so far, on whichever connection, in order. */
export function listens({ links }: ScriptedUpstream): HeardListen[] {
  return links.flatMap((link) =>
    link.heard
      .filter(({ method }) => method === 'subscriptions/listen')
      .map(({ id, params }) => ({ id: Number(id), notifications: notificationsOf(params), link })),
  );
}

/** Acknowledges what was asked for, or the part given. */
export function acknowledge(asked: Asked, honored: Fields = notificationsOf(asked.params)): void {
  asked.link.send(stamped('notifications/subscriptions/acknowledged', asked.id, { notifications: honored }));
}

/** A notice of a listen, as its server stamps it. */
export function stamped(method: string, listen: string | number, params: Fields = {}): object {
  const _meta = { 'io.modelcontextprotocol/subscriptionId': listen };
  return { jsonrpc: '2.0', method, params: { ...params, _meta } };
}

/** The ids of the requests the gateway has cancelled on this connection. */
export function cancelled({ heard }: ScriptedLink): unknown[] {
  return heard
    .filter(({ method }) => method === 'notifications/cancelled')
    .map(({ params }) => (isObject(params) ? params.requestId : undefined));
}

function notificationsOf(params: unknown): Fields {
  const found = isObject(params) ? params.notifications : undefined;
  return isObject(found) ? found : {};
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
