import { type Notification, stringField } from './envelope.ts';

/** RFC 5424 severities as MCP names them, least severe first (MCP 2025-11-25, Logging). */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export function isLogLevel(level: string): level is LogLevel {
  return LOG_LEVELS.some((known) => known === level);
}

/** True if this `notifications/message` is as severe as `level`, or more. One without a level of MCP's is less than any. */
export function reaches(level: LogLevel, { text, params }: Notification): boolean {
  const said = stringField(text, params, 'level');
  return said !== undefined && isLogLevel(said) && LOG_LEVELS.indexOf(said) >= LOG_LEVELS.indexOf(level);
}
