import type { WaitingRow } from './waiting.js';

/** Consecutive waiting rows of one stream, at consecutive revisions. */
export interface Run {
  readonly siteId: string;
  readonly stream: string;
  readonly rows: readonly WaitingRow[];
}

/** Result of placing a run: how many of its events the log has now, and why not all; null: it has all of them. */
export interface Placed {
  readonly events: number;
  readonly failure: unknown;
}

/** The way in which waiting events enter a log. */
export interface Placement {
  /**
   * Compares the streams of sites with the log where this is necessary before events of them are read.
   * @returns the sites that no event may be placed of now, and why
   */
  prepare(siteIds: readonly string[]): Promise<ReadonlyMap<string, unknown>>;
  /**
   * Places runs, each of another site. The failure of one affects no other.
   * @returns one result for each run, in order
   * @throws StreamMoved, database errors; then all is tried again
   */
  place(runs: readonly Run[]): Promise<readonly Placed[]>;
  /** Clears what was cached. */
  forget(): void;
}

export function countOf({ rows }: Run): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}
