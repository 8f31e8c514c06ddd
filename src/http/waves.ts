/** Sockets closed in a second, at least: few sockets do not keep a gateway that shuts down. */
const SLOWEST = 50;

/** Over how many milliseconds the closes of so many sockets are spread, where they may take `longest`. */
export function spread(sockets: number, longest: number): number {
  return Math.min(longest, (sockets / SLOWEST) * 1000);
}

/**
 * When each is to close, in milliseconds from now: at even distances, the first at once, idle ones before busy ones, so that
 * calls in flight have time to end.
 */
export function waves<S extends { readonly isBusy: boolean }>(
  sockets: readonly S[],
  longest: number,
): { readonly socket: S; readonly at: number }[] {
  const idle = sockets.filter(({ isBusy }) => !isBusy);
  const busy = sockets.filter(({ isBusy }) => isBusy);
  const step = spread(sockets.length, longest) / Math.max(1, sockets.length);
  return [...idle, ...busy].map((socket, index) => ({ socket, at: index * step }));
}
