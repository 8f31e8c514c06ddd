import { script } from './script.ts';

/** `<count>:<end>`, the end by the clock of Redis: what is not spelt so, is over, or is to last longer than any does, counts for nothing. */
const ENDS = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function held(count, life) return string.format('%d:%.0f', count, now + life) end
`;

/** Key: the owner's hash. Arguments: replica, its count, the limit, milliseconds. 1 where it fits beside the others' counts, and it is kept then, else 0. */
export const CLAIM = script(`${ENDS}
local replica, count, limit, life = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local total, counts = count, redis.call('HGETALL', KEYS[1])
for at = 1, #counts, 2 do
  if counts[at] ~= replica then
    local other, ends = string.match(counts[at + 1], '^(%d+):(%d+)$')
    local left = ends and tonumber(ends) - now
    if left and left > 0 and left <= life then total = total + tonumber(other) else redis.call('HDEL', KEYS[1], counts[at]) end
  end
end
if total > limit then return 0 end
redis.call('HSET', KEYS[1], replica, held(count, life))
redis.call('PEXPIRE', KEYS[1], life)
return 1
`);

/** Keys: owners' hashes. Arguments: replica, milliseconds, and its count of each, 0 where there is none left. */
export const TELL = script(`${ENDS}
local replica, life = ARGV[1], tonumber(ARGV[2])
for at, key in ipairs(KEYS) do
  local count = tonumber(ARGV[at + 2])
  if count == 0 then
    redis.call('HDEL', key, replica)
  else
    redis.call('HSET', key, replica, held(count, life))
    redis.call('PEXPIRE', key, life)
  end
end
return #KEYS
`);
