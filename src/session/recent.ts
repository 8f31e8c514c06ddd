/** Says when so many of something have come within a time. Exact: it keeps the moment of each of the last `count`, from the first on. */
export class Recent {
  private readonly count: number;
  private readonly withinMs: number;
  private times: Float64Array | undefined;
  private oldest = 0;

  constructor(count: number, withinMs: number) {
    this.count = count;
    this.withinMs = withinMs;
  }

  /** One more, at this monotonic millisecond; true if it is at least the `count`th within the time. */
  add(now: number): boolean {
    this.times ??= new Float64Array(this.count).fill(Number.NEGATIVE_INFINITY);
    this.times[this.oldest] = now;
    this.oldest = (this.oldest + 1) % this.count;
    return now - (this.times[this.oldest] ?? now) <= this.withinMs;
  }
}
