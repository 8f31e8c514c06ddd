import type { Meter } from '../ports/meter.ts';

const NOTHING = { add() {}, set() {}, observe() {} };

/** The meter of a command that ends before anyone could read it. */
export const UNMEASURED: Meter = {
  counter: () => NOTHING,
  gauge: () => NOTHING,
  histogram: () => NOTHING,
};
