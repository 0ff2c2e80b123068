import pg from 'pg';

const LOCK_NOT_AVAILABLE = '55P03';
const COLLISIONS: ReadonlySet<string | undefined> = new Set(['40001', '40P01', LOCK_NOT_AVAILABLE]);

/**
 * Returns whether a step collided with a running process, or with the migration of another database:
 * all databases of a server share the roles, but the lock of the migrations covers only one database.
 */
export function isCollision(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return COLLISIONS.has(error.code) || /tuple concurrently (updated|deleted)/.test(error.message);
}

/** Returns whether a step waited too long for a lock of another session. */
export function isLocked(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE;
}
