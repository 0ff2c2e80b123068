import { timingSafeEqual } from 'node:crypto';
import type pg from 'pg';
import { z } from 'zod';
import { type ReportAlteredRow, SEALED_TABLE_NAMES, type SealedTable } from './altered-row.js';
import { hmacSha256 } from './hmac.js';

/** How the sealed text writes a column: independently of the settings of a session. */
type Form = 'text' | 'time' | 'bytes';

/**
 * Tables whose rows grant rights, each with a primary key `id` and a column `seal`, and the columns that
 * the seal binds. The other columns grant nothing. `20-row-seals.sql` has triggers over the same columns,
 * and a test compares both.
 */
export const SEALED_TABLES = {
  users: { id: 'text', tenant_id: 'text', email: 'text', password_hash: 'text', role: 'text', disabled_at: 'time' },
  sites: {
    id: 'text',
    tenant_id: 'text',
    domain: 'text',
    verification_token: 'text',
    verified_at: 'time',
    allowed_origins: 'text',
    allowed_ips: 'text',
    retention_days: 'text',
    site_config_hash: 'text',
  },
  sign_ins: {
    id: 'text',
    user_id: 'text',
    refresh_digest: 'bytes',
    expires_at: 'time',
    lapses_at: 'time',
    ended_at: 'time',
  },
  invitations: {
    id: 'text',
    tenant_id: 'text',
    email: 'text',
    role: 'text',
    token_digest: 'bytes',
    invited_by: 'text',
    expires_at: 'time',
    accepted_at: 'time',
    revoked_at: 'time',
  },
  password_resets: {
    id: 'text',
    user_id: 'text',
    token_digest: 'bytes',
    made_by: 'text',
    expires_at: 'time',
    used_at: 'time',
    revoked_at: 'time',
  },
  api_keys: {
    id: 'text',
    site_id: 'text',
    digest: 'bytes',
    scope: 'text',
    restriction: 'text',
    expires_at: 'time',
    replaced_by: 'text',
    revoked_at: 'time',
  },
} as const satisfies Readonly<Record<SealedTable, Readonly<Record<string, Form>>>>;

/** The columns of `sealColumns`. */
export const SealColumns = z.object({ sealed_text: z.string(), seal: z.instanceof(Uint8Array).nullable() });
export type SealColumns = z.infer<typeof SealColumns>;

/**
 * Returns the columns of a statement that reads rows of a sealed table, for `isSealed`.
 * @param alias name of the table in the statement
 */
export function sealColumns(table: SealedTable, alias: string): string {
  return `${sealedText(table, alias)} as sealed_text, ${alias}.seal`;
}

/** The columns of `userSealColumns`. */
export const UserSealColumns = z.object({
  user_sealed_text: z.string(),
  user_seal: z.instanceof(Uint8Array).nullable(),
});
export type UserSealColumns = z.infer<typeof UserSealColumns>;

/**
 * Returns the columns for a statement that reads another sealed row together with the user from whom
 * its right comes. Both rows must be read by one statement: between two statements, a person who writes to
 * the database could show each of them a different row.
 * @param alias name of `users` in the statement
 */
export function userSealColumns(alias: string): string {
  return `${sealedText('users', alias)} as user_sealed_text, ${alias}.seal as user_seal`;
}

/** Returns the seal of the user, for `isSealed`. */
export function userSealOf({ user_sealed_text, user_seal }: UserSealColumns): SealColumns {
  return { sealed_text: user_sealed_text, seal: user_seal };
}

function sealedText(table: SealedTable, alias: string): string {
  const forms: Readonly<Record<Form, (column: string) => string>> = {
    text: (column) => `${alias}.${column}::text`,
    time: (column) => `extract(epoch from ${alias}.${column})::text`,
    bytes: (column) => `encode(${alias}.${column}, 'hex')`,
  };
  const columns: readonly (readonly [string, Form])[] = Object.entries(SEALED_TABLES[table]);
  return `jsonb_build_array('${table}', ${columns.map(([column, form]) => forms[form](column)).join(', ')})::text`;
}

/** Returns whether the row is as the service wrote it. @param key of the keyring, 32 bytes */
export function isSealedWith(key: Uint8Array, { sealed_text: text, seal }: SealColumns): boolean {
  const expected = hmacSha256(key, text);
  return seal !== null && seal.length === expected.length && timingSafeEqual(seal, expected);
}

/**
 * Empties the list of changes at the start of a transaction. A person who can set a default of the
 * setting, for a role or the database, could otherwise list rows for the service to seal.
 */
export const FORGET_CHANGES = `set local consent_ledger.changed_rows = ''`;

const ChangesRow = z.tuple([z.object({ changes: z.string().nullable() })]);
const Change = z.object({
  table: z.enum(SEALED_TABLE_NAMES),
  id: z.uuid(),
  before: z.string().nullable(),
});
type Change = z.infer<typeof Change>;
const TextRows = z.array(SealColumns).max(1);

/**
 * Seals the rows that a transaction changed, before its commit. Triggers list the changes in a setting of
 * the transaction, which no other session can write. A row that was altered before the transaction
 * stays without a valid seal: a change by the service must not launder one by SQL.
 * @param db a transaction that may UPDATE the sealed tables
 * @param key of the keyring, 32 bytes
 */
export async function sealChangedRows(
  db: pg.PoolClient,
  key: Uint8Array,
  reportAltered: ReportAlteredRow,
): Promise<void> {
  const { rows } = await db.query(`select current_setting('consent_ledger.changed_rows', true) as changes`);
  const [{ changes }] = ChangesRow.parse(rows);
  for (const change of firstChanges(changes ?? '')) {
    const { table, id, before } = change;
    if (before !== null && !(await wasSealed(db, key, change, before))) {
      reportAltered({ table, id });
      continue;
    }
    const found = await db.query(`select ${sealColumns(table, 'r')} from ${table} r where r.id = $1`, [id]);
    const [row] = TextRows.parse(found.rows);
    if (row === undefined || isSealedWith(key, row)) continue;
    await db.query(`update ${table} set seal = $2 where id = $1`, [id, hmacSha256(key, row.sealed_text)]);
  }
}

/** The first change of each row: it shows the row as it was before the transaction. */
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

/** @param before the row as PostgreSQL writes a composite value */
async function wasSealed(db: pg.PoolClient, key: Uint8Array, { table }: Change, before: string): Promise<boolean> {
  const { rows } = await db.query(`select ${sealColumns(table, 'r')} from (select ($1::text::${table}).*) r`, [before]);
  const [row] = TextRows.parse(rows);
  return row !== undefined && isSealedWith(key, row);
}
