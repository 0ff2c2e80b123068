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
}

/** The folder of a step. The steps of one folder make one schema, which a version of the program requires. */
export function schemaOf({ id }: Pick<Migration, 'id'>): string {
  return id.split('/')[0] ?? id;
}
