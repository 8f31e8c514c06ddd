type Cell = string | number;

/** Prints rows under their titles, numbers to the right. */
export function printTable(titles: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const texts = [titles, ...rows].map((row) => row.map(shown));
  const widths = titles.map((_, column) => Math.max(...texts.map((row) => (row[column] ?? '').length)));
  for (const [at, row] of texts.entries()) {
    const cells = row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return typeof (rows[at - 1] ?? titles)[column] === 'number' ? cell.padStart(width) : cell.padEnd(width);
    });
    process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
  }
  process.stdout.write('\n');
}

function shown(cell: Cell): string {
  return typeof cell === 'number' ? cell.toLocaleString('en-US') : cell;
}

/** What a trial promises, each with what was seen. */
export class Promises {
  private broken = 0;

  check(kept: boolean, promise: string, seen: string): void {
    if (!kept) this.broken += 1;
    process.stdout.write(`${kept ? 'ok    ' : 'BROKEN'}  ${promise}: ${seen}\n`);
  }

  get exitCode(): number {
    return this.broken > 0 ? 1 : 0;
  }
}
