import { Decoder } from '@redis/client/dist/lib/RESP/decoder.js';

/** Bytes of one reply. The longest the gateway's own entries can make is a third of it. */
const MAX_REPLY = 16 * 1024 * 1024;

/** Someone put something huge where the gateway reads. */
class LongReply extends Error {
  constructor() {
    super(`A reply of Redis is longer than ${MAX_REPLY} bytes`);
  }
}

/** Whether the connection was given up for the length of a reply. */
export function isLongReply(error: unknown): boolean {
  return error instanceof LongReply;
}

type Take<T> = (reply: T) => unknown;

/** Bytes that have come since a decoder's last whole reply. */
const pending = new WeakMap<Decoder, number>();
const watched = new WeakSet<object>();

/** `take`, after which the decoder has nothing pending. */
function watch<T>(decoder: Decoder, take: Take<T>): Take<T> {
  if (watched.has(take)) return take;
  const watching = (reply: T) => {
    pending.set(decoder, 0);
    return take(reply);
  };
  watched.add(watching);
  return watching;
}

/**
 * The library holds a reply in memory until it is whole, however long it is, and has no option for that. But what its
 * decoder throws it reports as the connection's error, which ends the connection: so its decoder is made to count.
 * Its version is pinned for this; a test sees whether it still holds.
 */
export function limitReplies(): void {
  const { write } = Decoder.prototype;
  if (watched.has(write)) return;
  const counting = function (this: Decoder, chunk: Uint8Array): void {
    const bytes = (pending.get(this) ?? 0) + chunk.length;
    pending.set(this, bytes);
    if (bytes > MAX_REPLY) throw new LongReply();
    this.onReply = watch(this, this.onReply);
    this.onErrorReply = watch(this, this.onErrorReply);
    write.call(this, chunk);
  };
  watched.add(counting);
  Decoder.prototype.write = counting;
}
