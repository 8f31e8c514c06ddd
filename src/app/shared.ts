import type { Config } from '../config/schema.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';

/** What every part of the gateway is given. */
export interface Shared {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
}
