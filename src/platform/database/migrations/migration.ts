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
}
