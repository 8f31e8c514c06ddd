/**
 * Loaded into the gateway before it starts (`--import`, with `--expose-gc`): answers its parent's question how much it
 * holds, and ends the gateway when the parent is gone.
 */
export interface Held {
  /** Bytes, after garbage collection. */
  readonly rss: number;
  readonly heap: number;
  /** Open handles by kind; timers are not among them. */
  readonly handles: Readonly<Record<string, number>>;
  /** Listeners on the process. */
  readonly listeners: number;
}

const NOT_COUNTED = new Set(['Timeout', 'Immediate', 'TickObject']);

process.on('message', (asked) => {
  if (asked === 'held') void held().then((told) => process.send?.({ held: told }));
});
process.on('disconnect', () => process.exit());
process.channel?.unref();

async function held(): Promise<Held> {
  // What one round finalises the next one frees.
  for (let round = 0; round < 4; round += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  const handles: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) {
    if (!NOT_COUNTED.has(kind)) handles[kind] = (handles[kind] ?? 0) + 1;
  }
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(String(name)), 0);
  return { rss, heap: heapUsed + external, handles, listeners };
}
