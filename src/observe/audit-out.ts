import { close, constants, openSync, write } from 'node:fs';
import type { Writable } from 'node:stream';

/** Takes one chunk at a time: the next is given when `done` was called. Never blocks, never throws. */
export interface Out {
  /** `done` gets how many bytes were taken, and the error that kept it from taking all. */
  write(chunk: Buffer, done: (taken: number, error?: Error) => void): void;
  /** After the last chunk was taken or given up. */
  close(): void;
}

/** Onto a stream the process owns (standard output): left open at the end. */
export function streamOut(stream: Writable): Out {
  // Without a listener the error of a reader that left (EPIPE) would end the process; `done` hears of it as well.
  const ignore = () => {};
  stream.on('error', ignore);
  return {
    write(chunk, done) {
      stream.write(chunk, (error) => (error ? done(0, error) : done(chunk.length)));
    },
    close() {
      if (stream.writableLength === 0) stream.off('error', ignore);
    },
  };
}

/** Between two tries to write into a pipe that is full, in milliseconds. */
const FULL_PIPE_MS = 50;

/**
 * Appends to a file (mode 0640, created when absent) from Node's thread pool. Non-blocking, so that a named pipe whose
 * reader is slow is tried again and holds up no thread. Throws a sentence if it cannot be opened.
 */
export function fileOut(path: string): Out {
  const fd = openForAppend(path);
  let pause: NodeJS.Timeout | undefined;
  return {
    write(chunk, done) {
      write(fd, chunk, (error, taken) => {
        if (error === null) done(taken);
        else if (error.code === 'EAGAIN') pause = setTimeout(() => done(0), FULL_PIPE_MS).unref();
        else done(0, error);
      });
    },
    close() {
      clearTimeout(pause);
      close(fd, () => {});
    },
  };
}

function openForAppend(path: string): number {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NONBLOCK } = constants;
  try {
    return openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0o640);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
    throw new Error(`the audit file ${path} cannot be opened${code} (audit.sink.file)`, { cause });
  }
}
