import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';

/** What the command line says: `--seed TEXT` and these numbers. */
export function readOptions<N extends string>(
  defaults: Readonly<Record<N, number>>,
): { readonly seed: string; readonly given: Readonly<Record<N, number>> } {
  const names = Object.keys(defaults);
  const { values } = parseArgs({
    options: Object.fromEntries([...names, 'seed'].map((name) => [name, { type: 'string' as const }])),
  });
  const given: Record<N, number> = { ...defaults };
  for (const name in defaults) {
    const value = values[name];
    if (value === undefined) continue;
    if (typeof value !== 'string' || !/^\d+$/.test(value)) throw new Error(`--${name} takes a number`);
    given[name] = Number(value);
  }
  return { seed: String(values.seed ?? randomBytes(4).toString('hex')), given };
}
