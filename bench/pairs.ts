/** One side of a comparison: runs the work once and returns what it cost. */
export type Side = () => Promise<number>;

export interface Ratio {
  readonly median: number;
  readonly a: number;
  readonly b: number;
}

export const PAIRS = 5;
const WARM_UPS = 3;

/**
 * Runs A and B in turn, five pairs, and compares pair by pair: what slows the machine slows both. The warm-up is long
 * enough for both to be compiled: a gateway runs for days.
 */
export async function compare(a: Side, b: Side): Promise<Ratio> {
  for (let round = 0; round < WARM_UPS; round += 1) {
    await a();
    await b();
  }
  const costs: { a: number; b: number }[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const cost = pair % 2 === 0 ? { a: await a(), b: await b() } : { b: await b(), a: await a() };
    costs.push(cost);
  }
  return {
    median: median(costs.map((cost) => cost.a / cost.b)),
    a: median(costs.map((cost) => cost.a)),
    b: median(costs.map((cost) => cost.b)),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((x, y) => x - y)[Math.floor(values.length / 2)] ?? Number.NaN;
}
