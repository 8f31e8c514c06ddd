import { resultText } from '../protocol/compose.ts';
import type { Id } from '../protocol/envelope.ts';
import { SUBSCRIPTION_ID_KEY } from '../protocol/era.ts';
import { withMember } from '../protocol/members.ts';
import { OWN_META } from '../protocol/modern.ts';

/** Where messages of a modern client's listens say which listen they are of (MCP 2026-07-28, Subscriptions: the id of its request, type preserved). */

/** The same value with the client's own id where the subscription is named. */
export function stamped(holder: unknown, id: Id): unknown {
  const meta = metaOf(holder);
  if (!isObject(holder) || meta?.[SUBSCRIPTION_ID_KEY] === undefined) return holder;
  return { ...holder, _meta: { ...meta, [SUBSCRIPTION_ID_KEY]: id } };
}

/** The id the SDK session knows the subscription by; NaN where none is named. */
export function innerSubscription(holder: unknown): number {
  return Number(metaOf(holder)?.[SUBSCRIPTION_ID_KEY]);
}

/** The end of a listen by the gateway, with its result. */
export function listenOver(id: Id): string {
  const meta = withMember(OWN_META, SUBSCRIPTION_ID_KEY, JSON.stringify(id));
  return resultText(id, `{"resultType":"complete","_meta":${meta}}`);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function metaOf(holder: unknown): Record<string, unknown> | undefined {
  return isObject(holder) && isObject(holder._meta) ? holder._meta : undefined;
}
