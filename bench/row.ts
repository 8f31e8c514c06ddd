import { compare, type Shape, type Side } from './pairs.ts';

/** One promise and what was measured of it. */
export interface Row {
  readonly value: number;
  readonly limit: number;
  readonly detail: string;
}

/** The row that holds the cost of `a` to at most `limit` times that of `b`; both are microseconds of CPU per `unit`. */
export async function ratio(limit: number, unit: string, a: Side, b: Side, shape?: Shape): Promise<Row> {
  const measured = await compare(a, b, shape);
  const detail = `${measured.a.toFixed(1)} / ${measured.b.toFixed(1)} us CPU a ${unit}`;
  return { value: measured.median, limit, detail };
}
