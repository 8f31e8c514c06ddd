import type { Log } from '../ports/log.ts';
import type { Receiver } from '../ports/transport.ts';
import { droppedAnswerId } from '../transport/dropped-answer.ts';

/** A message over the limit, of which only the ends are known. */
export interface Oversize {
  readonly head: string;
  readonly tail: string;
  readonly bytes: number;
}

/** Says that a message was dropped for its size: to the log, and to the owner of the request it answers, if it answers one. */
export function tellOversize(
  { head, tail, bytes }: Oversize,
  limit: number,
  log: Log,
  receiver: Pick<Receiver, 'failed'>,
): void {
  const id = droppedAnswerId(head, tail);
  log.warn('upstream_message_too_large', { bytes, limit, ...(id === undefined ? {} : { id }) });
  if (id === undefined) return;
  const cause = new Error(`the answer has ${bytes} bytes, over the limit of ${limit}`);
  receiver.failed(id, { reason: 'too_large', cause });
}
