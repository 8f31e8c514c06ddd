import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { HTTP_TIMING, type HttpTiming } from './http-timing.ts';
import { openWire, type Wire } from './http-wire.ts';

export interface StreamableHttpOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of one message from the upstream. */
  readonly maxMessage: number;
  readonly timing?: Partial<HttpTiming>;
}

export interface StreamableHttpDeps {
  readonly log: Log;
  readonly clock: Clock;
  /** The upstream's key, for the log. */
  readonly upstream: string;
}

/** What a channel over Streamable HTTP works with, whatever the era. */
export interface HttpParts {
  readonly wire: Wire;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxMessage: number;
  readonly lingerMs: number;
  readonly timing: HttpTiming;
}

/** Throws a TypeError when the URL is no http or https URL. Opens nothing yet; the wire's owner destroys it. */
export function openParts(options: StreamableHttpOptions, deps: StreamableHttpDeps): HttpParts {
  const timing = { ...HTTP_TIMING, ...options.timing };
  return {
    wire: openWire(options.url, timing.connect, deps.clock),
    clock: deps.clock,
    log: deps.log.child({ upstream: deps.upstream }),
    maxMessage: options.maxMessage,
    lingerMs: timing.linger,
    timing,
  };
}
