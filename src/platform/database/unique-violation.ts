import pg from 'pg';

/** Returns whether a statement failed because a row with the same key exists. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505';
}
