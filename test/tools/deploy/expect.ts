import { until } from '../trial/until.ts';

/** A check fails with this sentence. */
export function expect(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new Error(otherwise);
}

/** Waits for what comes in time; `last` says how it was when it did not. */
export async function expectSoon(
  isSo: () => boolean | Promise<boolean>,
  within: number,
  otherwise: () => string,
): Promise<void> {
  expect(await until(isSo, within, 100), `${otherwise()} after ${within / 1000} s`);
}
