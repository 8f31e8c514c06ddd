/** One side of a comparison: runs a slice of the work and returns what it cost. */
export type Side = () => Promise<number>;

export interface Ratio {
  readonly median: number;
  readonly a: number;
  readonly b: number;
}

/** How many slices of each side make a pair, and how many come before the first. */
export interface Shape {
  readonly slices: number;
  readonly warmUp: number;
}

interface Costs {
  readonly a: number;
  readonly b: number;
}

export const PAIRS = 5;
/** A pair is this many slices of each side, in turn: what slows the machine for a second then slows both. */
const USUAL: Shape = { slices: 12, warmUp: 12 };

/** Compares five pairs after a warm-up long enough for both sides to be compiled: a gateway runs for days. */
export async function compare(a: Side, b: Side, { slices, warmUp }: Shape = USUAL): Promise<Ratio> {
  await pair(a, b, warmUp);
  const costs: Costs[] = [];
  for (let at = 0; at < PAIRS; at += 1) costs.push(await pair(a, b, slices));
  return {
    median: median(costs.map((cost) => cost.a / cost.b)),
    a: median(costs.map((cost) => cost.a)),
    b: median(costs.map((cost) => cost.b)),
  };
}

/** The mean cost of a slice of each side; which of the two goes first alternates. */
async function pair(a: Side, b: Side, slices: number): Promise<Costs> {
  const sum = { a: 0, b: 0 };
  for (let slice = 0; slice < slices; slice += 1) {
    const cost = slice % 2 === 0 ? { a: await a(), b: await b() } : { b: await b(), a: await a() };
    sum.a += cost.a;
    sum.b += cost.b;
  }
  return { a: sum.a / slices, b: sum.b / slices };
}

function median(values: readonly number[]): number {
  return values.toSorted((x, y) => x - y)[Math.floor(values.length / 2)] ?? Number.NaN;
}
