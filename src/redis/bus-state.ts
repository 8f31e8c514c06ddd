import type { Log } from '../ports/log.ts';
import type { Gauge, Meter } from '../ports/meter.ts';

/** Whether replicas hear each other, and one line of the log whenever that changes. */
export class BusState {
  readonly #gauge: Gauge;
  readonly #log: Log;
  #isUp = false;
  #told: boolean | undefined;

  constructor(meter: Meter, log: Log) {
    this.#log = log;
    this.#gauge = meter.gauge('bus_up', {});
    this.#gauge.set(0);
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** `reason`: why it is not up. */
  set(isUp: boolean, reason: () => string): void {
    this.#isUp = isUp;
    this.#gauge.set(isUp ? 1 : 0);
    if (isUp || this.#told !== undefined) this.tell(reason);
  }

  /** Also where it was never up: not said at once, for a start takes a moment. */
  tell(reason: () => string): void {
    if (this.#told === this.#isUp) return;
    this.#told = this.#isUp;
    if (this.#isUp) this.#log.info('bus_up');
    else this.#log.warn('bus_down', { reason: reason() });
  }
}
