import { type Migration, schemaOf } from './migration.js';

/**
 * Returns the steps that wait and that running processes must not see. The processes are taken to be
 * of the newest schema that the database has completely: a step that failed leaves a schema
 * incomplete, whose processes refuse to start. A database without a complete schema has no processes.
 * @param applied ids of the steps that the database has
 */
export function stepsThatNeedAStop(migrations: readonly Migration[], applied: ReadonlySet<string>): Migration[] {
  const waiting = migrations.filter(({ id }) => !applied.has(id));
  const incomplete = new Set(waiting.map(schemaOf));
  const running = migrations.map(schemaOf).findLast((schema) => !incomplete.has(schema));
  if (running === undefined) return [];
  return waiting.filter(({ runsBeside }) => runsBeside === null || runsBeside > running);
}
