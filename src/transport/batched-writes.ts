import type { Writable } from 'node:stream';

/**
 * Call the returned function before each write: all that is written to the stream in one turn of the event loop leaves in
 * one system call, at the end of that turn. Order is kept; nothing waits for a later turn.
 */
export function batchedWrites(stream: Writable): () => void {
  let corked = false;
  const uncork = () => {
    corked = false;
    stream.uncork();
  };
  return () => {
    if (corked) return;
    corked = true;
    stream.cork();
    process.nextTick(uncork);
  };
}
