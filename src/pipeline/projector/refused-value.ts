import pg from 'pg';
import type { Mutation, Projection } from '../../../projections/definition.js';
import type { Queryable } from '../../platform/database/pool.js';
import { columnType, columnValues } from './sql.js';
import { statementsOf } from './statements.js';

/**
 * Finds the column whose type does not accept a value of these changes. PostgreSQL itself does not
 * name it, because the values of all rows are cast in one expression.
 * @returns `table.column (type)`; null if every type accepts its values
 * @throws UnexpectedState for a table or column that the projection does not have; database errors
 *   other than a refused value
 */
export async function refusedColumn(
  db: Queryable,
  projection: Projection,
  mutations: readonly Mutation[],
): Promise<string | null> {
  for (const { table, columns, rows } of statementsOf(projection, mutations)) {
    for (const column of [...(projection.tables[table]?.primaryKey ?? []), ...columns]) {
      const type = columnType(projection, table, column);
      try {
        await db.query(`select count(v::${type}) from unnest($1::text[]) as v`, [columnValues(rows, column, type)]);
      } catch (error) {
        if (error instanceof pg.DatabaseError && error.code?.startsWith('22')) return `${table}.${column} (${type})`;
        throw error;
      }
    }
  }
  return null;
}
