const INTERVAL_MS = 200;

/** Output for progress: a stream that may be a terminal. */
export interface ProgressOutput {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/** Shows how much of a package is read, on a terminal only. */
export class Progress {
  #lastDrawn = 0;
  #isDrawn = false;

  constructor(
    readonly output: ProgressOutput,
    readonly now: () => number,
  ) {
    this.#lastDrawn = now();
  }

  readonly update = (read: number, total: number): void => {
    if (this.output.isTTY !== true || this.now() - this.#lastDrawn < INTERVAL_MS) return;
    this.#lastDrawn = this.now();
    this.#isDrawn = true;
    const percent = total === 0 ? 100 : Math.min(100, Math.floor((read / total) * 100));
    this.output.write(`\r${`checked ${percent} % of ${(total / 1024 / 1024).toFixed(1)} MiB`.padEnd(40)}`);
  };

  clear(): void {
    if (this.#isDrawn) this.output.write(`\r${' '.repeat(40)}\r`);
  }
}
