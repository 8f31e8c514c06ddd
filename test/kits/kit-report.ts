import type { RunnerTestCase } from 'vitest';

/** Outcomes of a kit that is run in several combinations: one row a combination, one column a step. */
export class KitReport {
  private readonly combinations: readonly string[];
  private readonly steps: readonly string[];
  private readonly tests = new Map<string, RunnerTestCase>();

  constructor(combinations: readonly string[], steps: readonly string[]) {
    this.combinations = combinations;
    this.steps = steps;
  }

  /** Call it for every test that has begun; its outcome is read when the report is. */
  ran(combination: string, step: string, test: RunnerTestCase): void {
    this.tests.set(keyOf(combination, step), test);
  }

  /** What has not run, or not passed. */
  get missing(): readonly string[] {
    const cells = this.combinations.flatMap((each) => this.steps.map((step) => [each, step] as const));
    return cells
      .filter((cell) => this.outcome(...cell) !== 'pass')
      .map((cell) => `${cell.join(': ')} (${this.outcome(...cell)})`);
  }

  /** The table, a line a combination. */
  get text(): string {
    const width = Math.max(...this.combinations.map((each) => each.length));
    const row = (title: string, cells: readonly string[]) =>
      [title.padEnd(width), ...cells.map((cell, at) => cell.padEnd(this.steps[at]?.length ?? 0))].join('  ').trimEnd();
    const rows = this.combinations.map((each) =>
      row(
        each,
        this.steps.map((step) => this.outcome(each, step)),
      ),
    );
    return [row('', this.steps), ...rows, ''].join('\n');
  }

  private outcome(combination: string, step: string): string {
    return this.tests.get(keyOf(combination, step))?.result?.state ?? 'none';
  }
}

function keyOf(combination: string, step: string): string {
  return `${combination}\n${step}`;
}
