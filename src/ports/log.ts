/** Structured log. `event` is a fixed word in snake_case; what varies goes into `fields`. Never a token, header or argument value. */
export interface Log {
  debug(event: string, fields?: Fields): void;
  info(event: string, fields?: Fields): void;
  warn(event: string, fields?: Fields): void;
  error(event: string, fields?: Fields): void;
  child(fields: Fields): Log;
}

/** An `err` field is an Error: its message and stack go to the log, never to a peer. */
export type Fields = Readonly<Record<string, unknown>>;
