import type { Reply } from './connection.ts';

/** How far a reader is in the stream. */
export interface Position {
  /** The last entry it has had, or that was there before it. */
  readonly id: string;
  /** How many were ever added up to it; undefined where the server does not count them (before Redis 7). */
  readonly count: number | undefined;
}

/** What the server says of the stream. */
export interface StreamState {
  readonly lastId: string;
  readonly firstId: string | undefined;
  readonly length: number;
  readonly added: number | undefined;
}

/** A stream that is not there is one to which nothing was ever added. */
export const NO_STREAM: StreamState = { lastId: '0-0', firstId: undefined, length: 0, added: 0 };

const ID = /^\d{1,20}-\d{1,20}$/;

/** Reads the answer to XINFO STREAM; undefined for what is none. */
export function readStreamState(reply: Reply): StreamState | undefined {
  if (!Array.isArray(reply)) return undefined;
  const said = new Map<Reply, Reply>();
  for (let at = 0; at + 1 < reply.length; at += 2) said.set(reply[at] ?? null, reply[at + 1] ?? null);
  const [lastId, length, added] = [said.get('last-generated-id'), said.get('length'), said.get('entries-added')];
  if (!isId(lastId) || typeof length !== 'number') return undefined;
  const first = said.get('first-entry');
  const firstId = Array.isArray(first) && isId(first[0]) ? first[0] : undefined;
  return { lastId, firstId, length, added: typeof added === 'number' ? added : undefined };
}

export function isId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}

/** Where one is who has nothing more to read. */
export function endOf({ lastId, added }: StreamState): Position {
  return { id: lastId, count: added };
}

export function advanced({ count }: Position, id: string, entries: number): Position {
  return { id, count: count === undefined ? undefined : count + entries };
}

/** `trimmed` away unread; the stream is another one, whose ids go `backwards`; or as many are `missing` as were added and not read. */
export type Loss = 'trimmed' | 'backwards' | 'missing';

/**
 * Whether a reader at `position` has missed entries, as far as can be told now. A stream that was emptied or trimmed behind
 * the reader is no loss. Exact where the server counts: then a loss shows at the latest when the reader is at the end.
 */
export function lossAt(position: Position, state: StreamState): Loss | undefined {
  const order = compareIds(state.lastId, position.id);
  if (order < 0) return 'backwards';
  if (position.count === undefined || state.added === undefined) return trimmedPast(position, state);
  if (state.added - state.length > position.count) return 'trimmed';
  const ahead = state.added - position.count;
  return (order === 0 ? ahead !== 0 : ahead <= 0) ? 'missing' : undefined;
}

function trimmedPast(position: Position, { firstId }: StreamState): Loss | undefined {
  if (firstId === undefined || position.id === NO_STREAM.lastId) return undefined;
  return compareIds(firstId, position.id) > 0 ? 'trimmed' : undefined;
}

function compareIds(a: string, b: string): number {
  const [aTime = 0n, aNumber = 0n] = a.split('-').map(BigInt);
  const [bTime = 0n, bNumber = 0n] = b.split('-').map(BigInt);
  if (aTime !== bTime) return aTime < bTime ? -1 : 1;
  return aNumber < bNumber ? -1 : Number(aNumber > bNumber);
}
