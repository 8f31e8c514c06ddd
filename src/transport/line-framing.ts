/**
 * Newline-delimited messages over a byte stream (MCP stdio transport; TCP and the bridge use the same framing).
 * Linear in size: a line inside one chunk is decoded in place, a longer one is copied into a buffer that doubles.
 */

const LF = 0x0a;
const CR = 0x0d;
/** How much of each end of an over-long line is kept: enough for the scalar members around a large one. */
const EXCERPT = 4096;
const FIRST_CAPACITY = 64 * 1024;

export interface LineReaderOptions {
  /** Bytes a line may have, its newline not counted. */
  readonly maxLine: number;
  /** A whole line without its newline, never empty. May call `pause` and `resume`. */
  onLine(line: string): void;
  /** A line over `maxLine` has ended: it was dropped, only its ends are known. */
  onOversize(line: OversizeLine): void;
  /** Once, after `end()`, when everything has been handed out. */
  onEnd?(): void;
}

export interface OversizeLine {
  /** The first and last 4 KiB, decoded; a character cut at their inner edge reads as U+FFFD. */
  readonly head: string;
  readonly tail: string;
  readonly bytes: number;
}

export interface LineReader {
  push(chunk: Buffer): void;
  /** The stream is over. An unterminated last line counts as a line: a truncated message is not valid JSON. */
  end(): void;
  /** Takes effect before the next line, also inside a chunk. Chunks pushed meanwhile are held: pause the source too. */
  pause(): void;
  resume(): void;
  readonly paused: boolean;
}

export function lineReader(options: LineReaderOptions): LineReader {
  const waiting: Buffer[] = [];
  let line = emptyLine();
  let paused = false;
  let draining = false;
  let ending = false;

  const finishLine = () => {
    const done = line;
    line = emptyLine();
    if (done.bytes > options.maxLine) options.onOversize(oversizeLine(done));
    else deliver(done.store, 0, done.bytes);
  };
  const deliver = (bytes: Buffer, start: number, end: number) => {
    const stop = end > start && bytes[end - 1] === CR ? end - 1 : end;
    if (stop > start) options.onLine(bytes.toString('utf8', start, stop));
  };
  /** Hands out the line that begins or goes on at `from`, or keeps its beginning; returns where the next one begins. */
  const step = (chunk: Buffer, from: number): number => {
    const newline = chunk.indexOf(LF, from);
    const end = newline === -1 ? chunk.length : newline;
    if (line.bytes === 0 && newline !== -1 && end - from <= options.maxLine) deliver(chunk, from, end);
    else {
      append(line, chunk.subarray(from, end), options.maxLine);
      if (newline !== -1) finishLine();
    }
    return end + 1;
  };
  const readChunk = (chunk: Buffer) => {
    let from = 0;
    while (from < chunk.length && !paused) from = step(chunk, from);
    if (from < chunk.length) waiting.unshift(chunk.subarray(from));
  };
  const drain = () => {
    if (draining) return;
    draining = true;
    try {
      for (let chunk = paused ? undefined : waiting.shift(); chunk !== undefined; ) {
        readChunk(chunk);
        chunk = paused ? undefined : waiting.shift();
      }
      if (ending && !paused) finish();
    } finally {
      draining = false;
    }
  };
  const finish = () => {
    if (line.bytes > 0) finishLine();
    if (paused) return;
    ending = false;
    options.onEnd?.();
  };

  return {
    push(chunk) {
      waiting.push(chunk);
      drain();
    },
    end() {
      ending = true;
      drain();
    },
    pause() {
      paused = true;
    },
    resume() {
      paused = false;
      drain();
    },
    get paused() {
      return paused;
    },
  };
}

/** A line that began in an earlier chunk: whole in `store` up to the limit, beyond it only its two ends. */
interface PartialLine {
  bytes: number;
  store: Buffer;
  tail: Buffer;
}

function emptyLine(): PartialLine {
  return { bytes: 0, store: Buffer.alloc(0), tail: Buffer.alloc(0) };
}

function append(line: PartialLine, piece: Buffer, maxLine: number): void {
  const before = line.bytes;
  line.bytes += piece.length;
  if (line.bytes <= maxLine) {
    line.store = grown(line.store, before, line.bytes, maxLine);
    piece.copy(line.store, before);
    return;
  }
  if (before <= maxLine) shrink(line, before, piece);
  line.tail = lastBytes(line.tail, piece);
}

/** The limit is passed: keeps the ends and lets go of the rest. */
function shrink(line: PartialLine, kept: number, piece: Buffer): void {
  line.tail = lastBytes(Buffer.alloc(0), line.store.subarray(0, kept));
  const head = Buffer.concat([line.store.subarray(0, Math.min(kept, EXCERPT)), piece.subarray(0, EXCERPT)]);
  line.store = Buffer.from(head.subarray(0, EXCERPT));
}

function oversizeLine(line: PartialLine): OversizeLine {
  return { head: line.store.toString('utf8'), tail: line.tail.toString('utf8'), bytes: line.bytes };
}

function lastBytes(earlier: Buffer, piece: Buffer): Buffer {
  if (piece.length >= EXCERPT) return Buffer.from(piece.subarray(piece.length - EXCERPT));
  const both = Buffer.concat([earlier, piece]);
  return both.subarray(Math.max(0, both.length - EXCERPT));
}

function grown(store: Buffer, used: number, needed: number, limit: number): Buffer {
  if (needed <= store.length) return store;
  const wanted = Math.max(needed, store.length * 2, FIRST_CAPACITY);
  const larger = Buffer.allocUnsafe(Math.min(wanted, limit));
  store.copy(larger, 0, 0, used);
  return larger;
}

const BREAKS = /[\r\n\u0085\u2028\u2029]/;
const EVERY_BREAK = /[\r\n\u0085\u2028\u2029]/g;

/**
 * The same JSON on one line for every line reader. `message` is valid JSON: raw CR and LF can stand only between tokens
 * and become spaces; raw U+0085, U+2028 and U+2029, at which some readers split, only inside strings and are escaped.
 */
export function lineSafe(message: string): string {
  return BREAKS.test(message) ? message.replace(EVERY_BREAK, withoutBreak) : message;
}

/** One message as it goes onto a line-framed pipe. */
export function frameLine(message: string): string {
  return `${lineSafe(message)}\n`;
}

function withoutBreak(character: string): string {
  if (character === '\r' || character === '\n') return ' ';
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
