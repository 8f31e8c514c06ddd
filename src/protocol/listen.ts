import { decoded, field, type Id, idField, type Notification } from './envelope.ts';
import { SUBSCRIPTION_ID_KEY } from './era.ts';

/** `subscriptions/listen` as its client writes and reads it (MCP 2026-07-28, Subscriptions). */

export const LISTEN = 'subscriptions/listen';
export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** A kind of list whose changes can be listened to. */
export type ListenKind = 'tools' | 'resources' | 'prompts';

/** What a listen is about, asked for or honored. */
export interface Filter {
  readonly kinds: readonly ListenKind[];
  readonly uris: ReadonlySet<string>;
}

const KINDS: readonly ListenKind[] = ['tools', 'prompts', 'resources'];

/** The kinds whose changes a server announces. */
export function announcedKinds(capabilities: Readonly<Record<string, unknown>>): ListenKind[] {
  return KINDS.filter((kind) => {
    const capability = capabilities[kind];
    return isObject(capability) && capability.listChanged === true;
  });
}

/** The text of `params`, without `_meta`. */
export function listenParams({ kinds, uris }: Filter): string {
  const lists = kinds.map((kind) => [`${kind}ListChanged`, true]);
  const resources = uris.size === 0 ? [] : [['resourceSubscriptions', [...uris]]];
  return JSON.stringify({ notifications: Object.fromEntries([...lists, ...resources]) });
}

/** The part of what was asked for that an acknowledgement honors. */
export function honoredBy({ text, params }: Notification, asked: Filter): Filter {
  const member = field(params, 'notifications');
  const value = member === undefined ? undefined : decoded(text, member);
  const honored = isObject(value) ? value : {};
  const uris = new Set<unknown>(Array.isArray(honored.resourceSubscriptions) ? honored.resourceSubscriptions : []);
  return {
    kinds: asked.kinds.filter((kind) => honored[`${kind}ListChanged`] === true),
    uris: new Set([...asked.uris].filter((uri) => uris.has(uri))),
  };
}

export function inBoth(one: Filter, other: Filter): Filter {
  return {
    kinds: one.kinds.filter((kind) => other.kinds.includes(kind)),
    uris: new Set([...one.uris].filter((uri) => other.uris.has(uri))),
  };
}

/** The listen a notice is for, by the id of its request. */
export function subscriptionId({ text, meta }: Notification): Id | undefined {
  return idField(text, meta, SUBSCRIPTION_ID_KEY);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
