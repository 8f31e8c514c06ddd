/** What waits to be let in: upgrades and requests for tickets whose token is being verified. */
export class Pending {
  readonly max: number;
  private count = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** Whoever comes now is to be turned away. */
  get isFull(): boolean {
    return this.count >= this.max;
  }

  /** Every `enter` is followed by exactly one `leave`. */
  enter(): void {
    this.count += 1;
  }

  leave(): void {
    this.count -= 1;
  }
}
