/** What a host process says of itself when its parent asks. */
export interface Report {
  /** Microseconds of user and system time since it started. */
  readonly cpu: number;
  /** Bytes held after garbage collection. */
  readonly memory: number;
}

/** Answers the parent's `cpu` and `memory` messages; tells it once where to connect. */
export function reportTo(url: string): void {
  process.on('message', (asked) => {
    if (asked === 'memory') collect();
    const { user, system } = process.cpuUsage();
    const { heapUsed, external } = process.memoryUsage();
    process.send?.({ cpu: user + system, memory: heapUsed + external } satisfies Report);
  });
  process.on('disconnect', () => process.exit());
  process.send?.({ url });
}

/** Twice: what the first round finalises the second one frees. */
function collect(): void {
  globalThis.gc?.();
  globalThis.gc?.();
}
