import type { Writable } from 'node:stream';
import { type Logger, pino } from 'pino';
import type { Fields, Log } from '../ports/log.ts';
import { redactFields } from './redact.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';

export interface LogOptions {
  /** The least level that is written. The gateway writes none below `debug` or above `error`. */
  readonly level: 'trace' | Level | 'fatal' | 'silent';
  /** Where the lines go; standard error unless given. Not ended by the log. */
  readonly destination?: Writable;
}

/** Bytes that may wait for a reader that does not read; further lines are dropped and counted. */
const MAX_WAITING = 4 * 1024 * 1024;

/**
 * JSON lines: `level`, `time` (ISO 8601), `event`, then the fields. A reader that is slow or gone never blocks and never
 * ends the process: lines it cannot take are lost, and one line says how many as soon as it reads again.
 */
export function createLog({ level, destination = process.stderr }: LogOptions): Log {
  const options = {
    level,
    base: null,
    timestamp: isoTime,
    // Errors are plain objects by then; pino's own serialiser would fold their causes into one message.
    serializers: { err: (plain: unknown) => plain },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return logOver(pino(options, lossyLines(destination)));
}

function logOver(logger: Logger): Log {
  const at = (level: Level) => (event: string, fields?: Fields) => {
    if (!logger.isLevelEnabled(level)) return;
    logger[level](fields === undefined ? { event } : { event, ...redactFields(fields) });
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => logOver(logger.child(redactFields(fields))),
  };
}

function isoTime(): string {
  return `,"time":"${new Date().toISOString()}"`;
}

/** Errors of the stream (EPIPE when the reader is gone) are swallowed: there is nowhere left to report them. */
function lossyLines(stream: Writable): { write(line: string): void } {
  let lost = 0;
  stream.on('error', () => {});
  return {
    write(line) {
      if (stream.writableLength > MAX_WAITING) {
        lost += 1;
        return;
      }
      if (lost > 0) stream.write(`{"level":"warn"${isoTime()},"event":"log_lines_lost","count":${lost}}\n`);
      lost = 0;
      stream.write(line);
    },
  };
}
