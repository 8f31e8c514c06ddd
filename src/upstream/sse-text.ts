import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { createParser } from 'eventsource-parser';

/** Where a stream stands, kept across its reconnects: what Last-Event-ID says and how long the server asks to wait. */
export interface Cursor {
  lastEventId: string | undefined;
  retryMs: number | undefined;
}

export interface EventsHeard {
  /** The data of one event, its lines joined by LF. */
  message(text: string): void;
  /** An event of another type than `message`, for whoever knows such. */
  other?(type: string, data: string): void;
  /** The stream is over: it ended, was cut off, or was given up for an event over the limit. Once. */
  over(why: 'ended' | 'too_large'): void;
}

/** Beyond the data of one event: its other fields and the line that is not yet whole. */
const FIELDS_ROOM = 4_096;
/** Event ids go back in a header: printable ASCII (RFC 9110 section 5.5), of a bounded length. */
const HEADER_SAFE = /^[\x20-\x7e]{1,1024}$/;

/**
 * Reads an event stream (WHATWG HTML, server-sent events) as message texts. Events of other types and empty ones are no
 * messages (MCP 2025-11-25, transports: the priming event), but move the cursor. `max` is in bytes an event.
 */
export function readEvents(answer: IncomingMessage, max: number, cursor: Cursor, heard: EventsHeard): void {
  let open = true;
  const finish = (why: 'ended' | 'too_large'): void => {
    if (!open) return;
    open = false;
    if (why === 'too_large') answer.destroy();
    heard.over(why);
  };
  const decoder = new StringDecoder('utf8');
  const parser = createParser({
    maxBufferSize: max + FIELDS_ROOM,
    onRetry: (ms) => {
      cursor.retryMs = ms;
    },
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') finish('too_large');
    },
    onEvent: ({ id, event, data }) => {
      if (!open) return;
      if (exceeds(data, max)) return finish('too_large');
      if (id !== undefined) cursor.lastEventId = HEADER_SAFE.test(id) ? id : undefined;
      if (data === '') return;
      if (event === undefined || event === 'message') heard.message(data);
      else heard.other?.(event, data);
    },
  });
  answer.on('data', (chunk: Buffer) => {
    if (open) parser.feed(decoder.write(chunk));
  });
  // `close` follows `end` and also comes alone, when the stream was cut; an event without its blank line is dropped in both.
  answer.on('end', () => finish('ended'));
  answer.on('close', () => finish('ended'));
}

/** A character is one to three bytes per UTF-16 unit, so most texts are judged by their length alone. */
function exceeds(text: string, max: number): boolean {
  if (text.length > max) return true;
  return text.length * 3 > max && Buffer.byteLength(text) > max;
}
