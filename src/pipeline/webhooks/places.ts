/** Places of which a bounded number is taken at a time; those that wait get them in their order. */
export class Places {
  readonly #waiting: (() => void)[] = [];

  constructor(private free: number) {}

  /** Resolves once a place is free, and takes it. */
  async enter(): Promise<void> {
    if (this.free > 0) {
      this.free -= 1;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Gives a place back, to the next one that waits. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.free += 1;
    else next();
  }
}
