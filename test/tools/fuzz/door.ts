/** How to get into the gateway under fuzz. */
export interface Door {
  readonly port: number;
  /** 0 where there is no listener for lines: what goes through this door then goes through WebSockets. */
  readonly tcpPort: number;
  /** Absent where callers are anonymous. */
  readonly tokens?: (sub: string) => Promise<string>;
}
