import { timingSafeEqual } from 'node:crypto';
import type pg from 'pg';
import * as z from 'zod';
import { SEALED_TABLE_NAMES, SEALED_TABLES, type SealedTable } from '../database/sealed-tables.js';
import { ChangeRefused } from '../errors.js';
import { hmacSha256 } from './hmac.js';

/** Tables whose rows the service checks when it reads them. */
export const ALTERED_ROW_TABLES = ['record_keys', 'keyring', 'read_model.consents', ...SEALED_TABLE_NAMES] as const;

/** A stored row that the service did not write in this form. It is ignored and grants nothing. */
export interface AlteredRow {
  readonly table: (typeof ALTERED_ROW_TABLES)[number];
  /** Value of the primary key. It names no person. */
  readonly id: string;
}

/** Receives each altered row that was found, for log and metrics. Must not throw. */
export type ReportAlteredRow = (row: AlteredRow) => void;

/**
 * Returns the SQL of a sealed row: its seal and its sealed content in one value, for `sealedRow`. It is null where
 * the statement has no row of the table. The content is JSON that depends on the settings which each
 * session states (session.ts).
 * @param alias name of the table in the statement
 */
export function sealed(table: SealedTable, alias: string): string {
  return `coalesce(encode(${alias}.seal, 'hex'), '') || ' ' || ${sealedText(table, alias)}`;
}

/**
 * SQL of the text that the seal binds: the name of the table, and all columns that are neither exempt nor null. A
 * separate line after it names the columns that are null, so that a column that a later migration adds does not break
 * the seals of existing rows.
 */
function sealedText(table: SealedTable, alias: string): string {
  const exempt = ['seal', ...SEALED_TABLES[table].unsealed].join(',');
  const part = (condition: string): string =>
    `coalesce(jsonb_object_agg(key, value) filter (where value ${condition} 'null'), '{}')::text`;
  return (
    `'${table} ' || (select ${part('<>')} || e'\\n' || ${part('=')} ` +
    `from jsonb_each(to_jsonb(${alias}) - '{${exempt}}'::text[]) having count(*) > 0)`
  );
}

const Content = z.record(z.string(), z.unknown());

/**
 * A row of a sealed table as a statement returned it. Its columns can only be read through `RowSeals.open`, which
 * checks the seal, so the caller gets exactly what the seal binds.
 */
export class SealedRow<Table extends SealedTable = SealedTable> {
  readonly #text: string;
  readonly #nulls: string;
  /** Changes with every change of the row, or null if the service has not written the row. */
  readonly seal: Buffer | null;

  constructor(
    readonly table: Table,
    stored: string,
  ) {
    const end = stored.indexOf(' ');
    this.seal = end === 0 ? null : Buffer.from(stored.slice(0, end), 'hex');
    const line = stored.indexOf('\n', end);
    this.#text = stored.slice(end + 1, line);
    this.#nulls = stored.slice(line + 1);
  }

  /** The primary key, for reports. It is not checked. */
  get key(): string {
    return String(this.#content()[SEALED_TABLES[this.table].key]);
  }

  /**
   * Returns the sealed columns as JSON, or null if the row is not as the service wrote it.
   * @param key key of the keyring, 32 bytes
   */
  contentUnder(key: Uint8Array): Readonly<Record<string, unknown>> | null {
    const expected = this.sealUnder(key);
    const isSealed = this.seal !== null && this.seal.length === expected.length && timingSafeEqual(this.seal, expected);
    return isSealed ? this.#content() : null;
  }

  /** Returns the seal of the row as it is. @param key key of the keyring, 32 bytes */
  sealUnder(key: Uint8Array): Buffer {
    return hmacSha256(key, this.#text);
  }

  #content(): Readonly<Record<string, unknown>> {
    return Content.parse({ ...JSON.parse(this.#text.slice(this.table.length + 1)), ...JSON.parse(this.#nulls) });
  }
}

/** Parses a value of `sealed`. */
export const sealedRow = <Table extends SealedTable>(table: Table) =>
  z.string().transform((stored) => new SealedRow(table, stored));

/** A time in the content of a sealed row. */
export const SealedTime = z.string().transform((text) => new Date(text));

/** Bytes in the content of a sealed row. */
export const SealedBytes = z
  .string()
  .regex(/^\\x/)
  .transform((text) => Buffer.from(text.slice(2), 'hex'));

/**
 * Empties the list of changes at the start of a transaction. Otherwise someone who can set a default of this setting,
 * for a role or the database, could make the service seal rows of their choice.
 */
export const FORGET_CHANGES = `set local consent_ledger.changed_rows = ''`;

const ChangesRow = z.tuple([z.object({ changes: z.string().nullable() })]);
const Change = z.object({
  table: z.enum(SEALED_TABLE_NAMES),
  id: z.string(),
  before: z.string().nullable(),
});
type Change = z.infer<typeof Change>;

/**
 * Seals the rows that a transaction changed, before its commit. Triggers list the changes in a setting of the
 * transaction, which no other session can write. A row that was altered before the transaction does not get a valid
 * seal: a change by the service must not legitimise one made by SQL.
 * @throws ChangeRefused if the transaction publishes, activates or copies an altered document version
 * @param db a transaction that may UPDATE the sealed tables
 * @param key key of the keyring, 32 bytes
 */
export async function sealChangedRows(
  db: pg.PoolClient,
  key: Uint8Array,
  reportAltered: ReportAlteredRow,
): Promise<void> {
  const { rows } = await db.query(`select current_setting('consent_ledger.changed_rows', true) as changes`);
  const [{ changes }] = ChangesRow.parse(rows);
  const first = firstChanges(changes ?? '');
  for (const { table, id, before } of first) {
    if (before !== null && !(await wasSealed(db, key, table, before))) {
      reportAltered({ table, id });
      if (table === 'document_versions') await refusePublished(db, id);
      continue;
    }
    const { key: column } = SEALED_TABLES[table];
    const row = await oneRow(db, table, `${table} r where r.${column} = $1`, id);
    if (row === undefined || row.contentUnder(key) !== null) continue;
    await db.query(`update ${table} set seal = $2 where ${column} = $1`, [id, row.sealUnder(key)]);
  }
  for (const { table, id } of first) {
    if (table === 'document_versions' && !(await hasSealedDocument(db, key, id))) await refusePublished(db, id);
  }
}

/** Refuses to publish or activate an altered text: published texts stay in the log forever. @throws ChangeRefused */
async function refusePublished(db: pg.PoolClient, id: string): Promise<void> {
  const { rows } = await db.query("select from document_versions where id = $1 and state in ('published', 'active')", [
    id,
  ]);
  if (rows.length === 0) return;
  throw new ChangeRefused(
    'wrong_state',
    `The row of the document version ${id}, or of its document, was altered in the database, not by the service. Ask the operator, or draft the text anew.`,
  );
}

/** Returns whether the row of a version's document is unaltered, because the log repeats its name and kind. */
async function hasSealedDocument(db: pg.PoolClient, key: Uint8Array, versionId: string): Promise<boolean> {
  const from = 'documents r where r.id = (select document_id from document_versions where id = $1)';
  return (await oneRow(db, 'documents', from, versionId))?.contentUnder(key) != null;
}

/** Returns the first change of each row, which shows the row as it was before the transaction. */
function firstChanges(lines: string): readonly Change[] {
  const first = new Map<string, Change>();
  for (const line of lines.split('\n')) {
    if (line === '') continue;
    const change = Change.parse(JSON.parse(line));
    const name = `${change.table} ${change.id}`;
    if (!first.has(name)) first.set(name, change);
  }
  return [...first.values()];
}

/** @param before the row, in PostgreSQL's text form of a composite value */
async function wasSealed(db: pg.PoolClient, key: Uint8Array, table: SealedTable, before: string): Promise<boolean> {
  const row = await oneRow(db, table, `(select ($1::text::${table}).*) r`, before);
  return row?.contentUnder(key) != null;
}

async function oneRow(db: pg.PoolClient, table: SealedTable, from: string, value: string) {
  const { rows } = await db.query(`select ${sealed(table, 'r')} as sealed from ${from}`, [value]);
  return z.array(z.object({ sealed: sealedRow(table) })).parse(rows)[0]?.sealed;
}
