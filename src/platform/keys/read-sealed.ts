import * as z from 'zod';
import type { Queryable } from '../database/pool.js';
import type { SealedTable } from '../database/sealed-tables.js';
import type { RowSeals } from './keyring.js';
import { type SealedRow, sealed, sealedRow } from './row-seals.js';

/** A choice of rows of a sealed table. */
export interface SealedQuery<Table extends SealedTable> {
  readonly table: Table;
  /** SQL after WHERE, with the table as `r`; a lock may follow. */
  readonly where: string;
  readonly values: readonly unknown[];
  /** The name of a prepared statement. */
  readonly name?: string;
}

/** Reads the rows of a sealed table that meet a condition, for `RowSeals.open`. */
export async function sealedRows<Table extends SealedTable>(
  db: Queryable,
  { table, where, values, name }: SealedQuery<Table>,
): Promise<readonly SealedRow<Table>[]> {
  const text = `select ${sealed(table, 'r')} as sealed from ${table} r where ${where}`;
  const { rows } = await db.query({ ...(name !== undefined && { name }), text, values: [...values] });
  return z
    .array(z.object({ sealed: sealedRow(table) }))
    .parse(rows)
    .map((row) => row.sealed);
}

/**
 * Reads one row of a sealed table, and checks its seal.
 * @param columns the columns that the caller needs
 * @returns null if there is no such row, or it was altered
 */
export async function readSealed<T>(
  db: Queryable,
  seals: RowSeals,
  query: SealedQuery<SealedTable>,
  columns: z.ZodType<T>,
): Promise<T | null> {
  const [row] = await sealedRows(db, query);
  return row === undefined ? null : seals.open(row, columns);
}
