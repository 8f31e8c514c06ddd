/**
 * The candidate with the least edit distance, a swap of neighbours counting as one edit; undefined when even that one is
 * not close: more than one edit in three characters, and more than two in short words, is another word. Case does not count.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bound = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bound) continue;
    const edits = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (edits >= bound || edits >= candidate.length) continue;
    best = candidate;
    bound = edits;
  }
  return best;
}

/** Optimal string alignment distance, with the rows before last and last kept. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const next = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const swapped = isSwap(a, b, row, column) ? at(beforeLast, column - 2) + 1 : replaced;
      next.push(Math.min(at(last, column) + 1, at(next, column - 1) + 1, replaced, swapped));
    }
    beforeLast = last;
    last = next;
  }
  return at(last, b.length);
}

function isSwap(a: string, b: string, row: number, column: number): boolean {
  return row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
