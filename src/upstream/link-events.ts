import type { LinkEvents } from '../ports/link.ts';
import type { ListKind } from '../ports/meter.ts';
import { type Notification, stringField } from '../protocol/envelope.ts';

/** Notifications that a list has changed, in either era. */
export const LIST_CHANGED: ReadonlyMap<string, ListKind> = new Map([
  ['notifications/tools/list_changed', 'tools'],
  ['notifications/resources/list_changed', 'resources'],
  ['notifications/prompts/list_changed', 'prompts'],
]);

/** What a server says outside any call, by method; one the gateway does not know may be a vendor's. */
export function tellEvents(notification: Notification, events: LinkEvents): void {
  const { method, text, params } = notification;
  const kind = LIST_CHANGED.get(method);
  if (kind !== undefined) events.listChanged(kind);
  else if (method === 'notifications/message') events.logged(notification);
  else if (method === 'notifications/elicitation/complete') events.notified?.(notification);
  else if (method === 'notifications/resources/updated') {
    const uri = stringField(text, params, 'uri');
    if (uri !== undefined) events.updated(uri, notification);
  } else events.vendor?.(notification);
}
