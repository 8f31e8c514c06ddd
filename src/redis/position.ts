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

/** Reads last id, length, how many were added and first id, of which the last two may be null; undefined for anything else. */
export function readStreamState(reply: Reply): StreamState | undefined {
  if (!Array.isArray(reply)) return undefined;
  const [lastId, length, added, firstId] = reply;
  if (!isId(lastId) || typeof length !== 'number') return undefined;
  const known = { added: typeof added === 'number' ? added : undefined, firstId: isId(firstId) ? firstId : undefined };
  return { lastId, length, ...known };
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

/**
 * Entries were `trimmed` away unread; ids went `backwards`, as the stream is another one; some are `missing`, by the count
 * of the server or of their publisher; or they were passed over, being too `long` to be read.
 */
export type Loss = 'trimmed' | 'backwards' | 'missing' | 'long';

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
