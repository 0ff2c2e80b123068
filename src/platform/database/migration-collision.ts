import pg from 'pg';

/**
 * Returns whether migrations of two databases collided. All databases of a server share the roles,
 * but the lock of the migrations covers only one database.
 */
export function isCollision(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === '40001' || error.code === '40P01' || /tuple concurrently (updated|deleted)/.test(error.message);
}
