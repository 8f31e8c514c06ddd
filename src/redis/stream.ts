import type { Redis, Reply } from './connection.ts';
import { isId, NO_STREAM, readStreamState, type StreamState } from './position.ts';
import { script } from './script.ts';

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

/**
 * What XINFO STREAM says, without the entries it brings along. Only FULL leaves out the last one, and that may be of any
 * length: Redis would be busy with it for seconds. FULL still brings the first one. So a stream that is larger than the
 * gateway's own entries can make it, which is somebody else's work, is emptied before; its numbers stay, by which others
 * see that something was lost. Where the server does not tell the size nothing goes.
 */
const LOOK = script(`
local function isTooLarge()
  local size = redis.pcall('MEMORY', 'USAGE', KEYS[1], 'SAMPLES', '1')
  return type(size) == 'number' and size > (redis.call('XLEN', KEYS[1]) + 1) * 65536
end
if isTooLarge() then redis.call('XTRIM', KEYS[1], 'MAXLEN', '0') end
-- Its consumer groups, of which the gateway has none.
if isTooLarge() then redis.call('DEL', KEYS[1]) end
local info = redis.pcall('XINFO', 'STREAM', KEYS[1], 'FULL', 'COUNT', '1')
if info.err then
  if string.find(info.err, 'no such key', 1, true) then return false end
  return info
end
local said = {}
for at = 1, #info, 2 do said[info[at]] = info[at + 1] end
local first = said['entries'][1]
return { said['last-generated-id'], said['length'], said['entries-added'] or false, first and first[1] or false }
`);

export async function lookAt(redis: Redis, stream: string): Promise<StreamState> {
  const reply = await LOOK(redis, [stream], []);
  if (reply === null) return NO_STREAM;
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
