/** A step of the database's schema. Once released it is never changed: a later change is a later migration. */
export interface Migration {
  /** Orders and names the step, e.g. `001-roles`. */
  readonly id: string;
  /** One or more statements that may run inside a transaction. */
  readonly sql: string;
}
