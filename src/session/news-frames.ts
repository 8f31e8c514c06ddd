import type { ListKind } from '../ports/meter.ts';
import { notificationText } from '../protocol/compose.ts';

const LIST_CHANGED: Readonly<Record<ListKind, string>> = {
  tools: notificationText('notifications/tools/list_changed'),
  resources: notificationText('notifications/resources/list_changed'),
  prompts: notificationText('notifications/prompts/list_changed'),
};

let last = { uri: '', frame: '' };

export function listChangedFrame(kind: ListKind): string {
  return LIST_CHANGED[kind];
}

/** Many sessions are told of one resource, one after another: its frame is made for the first of them. */
export function updatedFrame(uri: string): string {
  if (last.uri !== uri || last.frame === '') {
    last = { uri, frame: notificationText('notifications/resources/updated', JSON.stringify({ uri })) };
  }
  return last.frame;
}
