import { type ClientCapabilities, carriedCapabilities, NO_CAPABILITIES } from '../protocol/capabilities.ts';
import { decoded, field, type Request, stringField } from '../protocol/envelope.ts';
import { isLogLevel, type LogLevel } from '../protocol/log-level.ts';
import { CAPABILITIES_KEY, LOG_LEVEL_KEY } from '../protocol/modern.ts';

/** What a modern client says of itself with one request: it holds for that request alone. */
export interface Said {
  readonly declares: ClientCapabilities;
  /** The least severe log message it wants of it; absent: none. */
  readonly logLevel: LogLevel | undefined;
}

export function saidBy({ text, meta }: Request): Said {
  const capabilities = field(meta, CAPABILITIES_KEY);
  const level = stringField(text, meta, LOG_LEVEL_KEY);
  const isEmpty = capabilities === undefined || capabilities.end - capabilities.start === '{}'.length;
  return {
    declares: isEmpty ? NO_CAPABILITIES : carriedCapabilities(decoded(text, capabilities)),
    logLevel: level !== undefined && isLogLevel(level) ? level : undefined,
  };
}
