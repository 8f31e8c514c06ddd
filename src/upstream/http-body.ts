import type { IncomingMessage } from 'node:http';

/** What became of a body: all of it, more than allowed (the connection is given up), or cut off before its end. */
export type BodyEnd =
  | { readonly end: 'whole'; readonly text: string }
  | { readonly end: 'too_large' }
  | { readonly end: 'cut' };

/** Reads at most `max` bytes. `done` is called once; an answer destroyed by others counts as cut. */
export function readBody(answer: IncomingMessage, max: number, done: (body: BodyEnd) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  let open = true;
  const finish = (body: BodyEnd): void => {
    if (!open) return;
    open = false;
    done(body);
  };
  const giveUp = (): void => {
    finish({ end: 'too_large' });
    answer.destroy();
  };
  if (Number(answer.headers['content-length']) > max) giveUp();
  answer.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > max) giveUp();
    else chunks.push(chunk);
  });
  answer.on('end', () => finish({ end: 'whole', text: textOf(chunks) }));
  answer.on('close', () => finish({ end: 'cut' }));
}

/** Reads and drops what nobody wants, so that the socket can serve again; gives the socket up when there is much of it. */
export function drain(answer: IncomingMessage): void {
  let left = 65_536;
  answer.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) answer.destroy();
  });
}

export type BodyKind = 'json' | 'events' | 'encoded' | 'other';

/** `encoded` is a body compressed although `identity` was asked for: it is not read, so that what is counted is what is held. */
export function bodyKind(answer: IncomingMessage): BodyKind {
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') return 'encoded';
  const type = (answer.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json') return 'json';
  return type === 'text/event-stream' ? 'events' : 'other';
}

function textOf(chunks: readonly Buffer[]): string {
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1) return only.toString('utf8');
  return Buffer.concat(chunks).toString('utf8');
}
