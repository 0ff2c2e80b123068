/**
 * A step of the database schema. A released step never changes; a later change is a later
 * migration.
 */
export interface Migration {
  /**
   * Identifies and orders the step: the path of its file without `.sql`, e.g.
   * `0001-initial/02-tenants`.
   */
  readonly id: string;
  /** One or more statements that may run inside a transaction. */
  readonly sql: string;
  /**
   * The oldest schema, by its folder (e.g. `0001-initial`), whose processes may go on while the
   * step is applied and afterwards; null: every process must be stopped.
   */
  readonly runsBeside: string | null;
  /**
   * Whether the step is one statement that changes some rows and is run until it changes none, each run
   * in its own transaction: for tables that are too large for one. A run finds by itself what is left.
   */
  readonly repeats: boolean;
}
