import type { Readable } from 'node:stream';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { lineReader } from '../transport/line-framing.ts';

const LINES_A_SECOND = 20;
const LINE_BYTES = 2048;

/**
 * A child's stderr to the log as `upstream_stderr`: 20 lines a second of at most 2 KiB each. The lines over that rate are
 * counted and said once, as `upstream_stderr_dropped`, with the first line after them or at the end of the stream.
 */
export function logStderr(stderr: Readable, log: Log, clock: Clock, mask: (line: string) => string): void {
  let windowStart = clock.elapsed();
  let logged = 0;
  let dropped = 0;

  const sayDropped = () => {
    if (dropped > 0) log.warn('upstream_stderr_dropped', { lines: dropped });
    dropped = 0;
  };
  const write = (fields: { line: string; cut?: true }) => {
    if (clock.elapsed() - windowStart >= 1000) {
      windowStart = clock.elapsed();
      logged = 0;
      sayDropped();
    }
    if (logged >= LINES_A_SECOND) {
      dropped += 1;
      return;
    }
    logged += 1;
    log.info('upstream_stderr', fields);
  };
  const reader = lineReader({
    maxLine: LINE_BYTES,
    onLine: (line) => write({ line: mask(line) }),
    onOversize: ({ head }) => write({ line: mask(head.slice(0, LINE_BYTES)), cut: true }),
    onEnd: sayDropped,
  });
  stderr.on('data', (chunk: Buffer) => reader.push(chunk));
  stderr.once('close', () => reader.end());
  stderr.on('error', () => {});
}
