import { isAnswer, type Redis, type Reply } from './connection.ts';
import { isId, NO_STREAM, readStreamState, type StreamState } from './position.ts';

/** An entry as it stands in the stream, by whomever. */
export interface Raw {
  readonly id: string;
  readonly fields: Reply | undefined;
}

/** Entries read at once: no more are dealt with in one turn. */
export const BATCH = 100;
/** Milliseconds a read waits for an entry. */
const BLOCK_MS = 3000;
/** How much later the answer may come. */
const SLACK_MS = 1000;

export async function lookAt(redis: Redis, stream: string): Promise<StreamState> {
  const reply = await redis.send(stream, ['XINFO', 'STREAM', stream]).catch((error: unknown) => {
    if (isAnswer(error) && error instanceof Error && error.message === 'ERR no such key') return undefined;
    throw error;
  });
  if (reply === undefined) return NO_STREAM;
  const state = readStreamState(reply);
  if (state === undefined) throw new Error('XINFO STREAM was answered in an unknown form');
  return state;
}

/** Entries after `id`, none where there are none for a while. */
export async function readAfter(redis: Redis, stream: string, id: string): Promise<Raw[]> {
  const command = ['XREAD', 'COUNT', String(BATCH), 'BLOCK', String(BLOCK_MS), 'STREAMS', stream, id];
  const reply = await redis.send(stream, command, BLOCK_MS + SLACK_MS);
  if (reply === null) return [];
  const [first] = listOf(reply);
  const [, entries] = listOf(first);
  return listOf(entries).map(rawOf);
}

function rawOf(entry: Reply): Raw {
  const [id, fields] = listOf(entry);
  if (!isId(id)) throw new Error('XREAD was answered in an unknown form');
  return { id, fields };
}

function listOf(reply: Reply | undefined): readonly Reply[] {
  if (!Array.isArray(reply)) throw new Error('XREAD was answered in an unknown form');
  return reply;
}
