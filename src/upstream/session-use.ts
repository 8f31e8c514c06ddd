import type { Cancel } from '../ports/clock.ts';
import type { Link, LinkUser } from '../ports/link.ts';

/** One session's use of an upstream: its link while it has one, its subscriptions across links. */
export interface Use {
  readonly user: LinkUser;
  readonly uris: Set<string>;
  /** Ends an attempt under way with the use. */
  readonly ending: AbortController;
  link: Link | Promise<Link> | undefined;
  /** Subscriptions under way. */
  subscribing: number;
  /** Monotonic milliseconds. */
  usedAt: number;
  failures: number;
  stopTimer: Cancel;
}

export function newUse(user: LinkUser): Use {
  return {
    user,
    uris: new Set(),
    ending: new AbortController(),
    link: undefined,
    subscribing: 0,
    usedAt: 0,
    failures: 0,
    stopTimer: () => {},
  };
}

/** It has a link, with no call on it and no subscription. */
export function isIdle({ link, uris, subscribing }: Use): boolean {
  const isQuiet = link !== undefined && !(link instanceof Promise) && link.inFlight === 0;
  return isQuiet && uris.size === 0 && subscribing === 0;
}
