import type { Projection } from '../../../projections/definition.js';
import { compareTables, type RowDifference } from '../../platform/database/compare-tables.js';
import type { Queryable } from '../../platform/database/pool.js';
import { qualified, schemaOf } from './sql.js';

/** Comparison of two generations of a table at one position of the log. */
export interface TableComparison {
  readonly table: string;
  readonly equal: boolean;
  /** Number of equal rows. */
  readonly rows: number;
  /** The first differing rows, at most `NAMED`. */
  readonly differences: readonly RowDifference[];
}

/** Number of differing rows that a comparison names. */
const NAMED = 10;

/**
 * Compares the tables of two generations, each up to its first difference. Both generations must remain
 * at the same position.
 * @param live the generation that readers see
 * @param fresh the generation that the log gives
 */
export async function compareGenerations(
  db: Queryable,
  { name, tables }: Projection,
  live: number,
  fresh: number,
): Promise<TableComparison[]> {
  const comparisons: TableComparison[] = [];
  for (const [table, { columns, primaryKey }] of Object.entries(tables)) {
    const tableOf = (generation: number) => qualified(schemaOf(name, generation), table);
    const compared = {
      live: tableOf(live),
      expected: tableOf(fresh),
      key: primaryKey,
      columns: Object.keys(columns).filter((column) => !primaryKey.includes(column)),
    };
    let comparison: TableComparison = { table, equal: true, rows: 0, differences: [] };
    for await (const { rows, differences } of compareTables(db, compared, { ahead: true })) {
      if (differences.length > 0) {
        comparison = { ...comparison, equal: false, differences: differences.slice(0, NAMED) };
        break;
      }
      comparison = { ...comparison, rows: comparison.rows + rows };
    }
    comparisons.push(comparison);
  }
  return comparisons;
}
