import { timingSafeEqual } from 'node:crypto';
import type pg from 'pg';
import { z } from 'zod';
import { ChangeRefused } from '../errors/change-refused.js';
import { type ReportAlteredRow, SEALED_TABLE_NAMES, type SealedTable } from './altered-row.js';
import { hmacSha256 } from './hmac.js';

/** How the sealed text writes a column: independently of the settings of a session. */
type Form = 'text' | 'time' | 'bytes';

/**
 * Tables whose rows no other record binds, each with a column `seal`, and the columns that the seal binds.
 * The other columns grant nothing. `20-row-seals.sql` has triggers over the same columns, and a test
 * compares both.
 */
export const SEALED_TABLES = {
  tenants: { id: 'text', name: 'text', made_by_tenant: 'text', created_at: 'time' },
  subscriptions: {
    tenant_id: 'text',
    plan: 'text',
    is_active: 'text',
    rate_limit_per_minute: 'text',
    consent_quota: 'text',
  },
  users: {
    id: 'text',
    tenant_id: 'text',
    email: 'text',
    password_hash: 'text',
    role: 'text',
    created_at: 'time',
    disabled_at: 'time',
    totp_secret: 'bytes',
    totp_confirmed_at: 'time',
    totp_last_step: 'text',
    recovery_digests: 'text',
  },
  sites: {
    id: 'text',
    tenant_id: 'text',
    name: 'text',
    domain: 'text',
    verification_token: 'text',
    verified_at: 'time',
    allowed_origins: 'text',
    allowed_ips: 'text',
    retention_days: 'text',
    site_config_hash: 'text',
    created_at: 'time',
  },
  sign_ins: {
    id: 'text',
    user_id: 'text',
    refresh_digest: 'bytes',
    started_at: 'time',
    renewed_at: 'time',
    expires_at: 'time',
    lapses_at: 'time',
    ended_at: 'time',
    end_reason: 'text',
  },
  invitations: {
    id: 'text',
    tenant_id: 'text',
    email: 'text',
    role: 'text',
    token_digest: 'bytes',
    invited_by: 'text',
    created_at: 'time',
    expires_at: 'time',
    accepted_at: 'time',
    user_id: 'text',
    revoked_at: 'time',
  },
  password_resets: {
    id: 'text',
    user_id: 'text',
    token_digest: 'bytes',
    made_by: 'text',
    created_at: 'time',
    expires_at: 'time',
    used_at: 'time',
    revoked_at: 'time',
  },
  api_keys: {
    id: 'text',
    site_id: 'text',
    name: 'text',
    digest: 'bytes',
    prefix: 'text',
    scope: 'text',
    restriction: 'text',
    created_at: 'time',
    expires_at: 'time',
    replaced_by: 'text',
    revoked_at: 'time',
  },
  webhooks: {
    id: 'text',
    site_id: 'text',
    url: 'text',
    description: 'text',
    events: 'text',
    secret: 'bytes',
    previous_secret: 'bytes',
    previous_secret_until: 'time',
    created_at: 'time',
    disabled_at: 'time',
    disabled_reason: 'text',
  },
  documents: {
    id: 'text',
    site_id: 'text',
    slug: 'text',
    kind: 'text',
    requires_approval_token: 'text',
    created_at: 'time',
  },
  document_attachments: {
    id: 'text',
    document_id: 'text',
    site_id: 'text',
    attached_at: 'time',
    detached_at: 'time',
  },
  document_versions: {
    id: 'text',
    document_id: 'text',
    site_id: 'text',
    home_version_id: 'text',
    language: 'text',
    number: 'text',
    title: 'text',
    media_type: 'text',
    content_sha256: 'text',
    state: 'text',
    event_id: 'text',
    published_at: 'time',
    activated_at: 'time',
    retired_at: 'time',
  },
  site_config_drafts: { site_id: 'text', revision: 'text', content: 'text', changed_at: 'time' },
  approval_tokens: {
    id: 'text',
    site_id: 'text',
    digest: 'bytes',
    document_id: 'text',
    document_version_id: 'text',
    custom_document_hash: 'text',
    seed: 'bytes',
    identity: 'bytes',
    visitor_index: 'bytes',
    email_index: 'bytes',
    phone_index: 'bytes',
    id_number_index: 'bytes',
    created_at: 'time',
    expires_at: 'time',
  },
  erasure_requests: {
    id: 'text',
    site_id: 'text',
    channel: 'text',
    request_digest: 'bytes',
    reason: 'text',
    index_kind: 'text',
    blind_index: 'bytes',
    event_id: 'text',
    requested_at: 'time',
    erased_count: 'text',
    deleted_token_count: 'text',
    cancelled_export_count: 'text',
    destroyed_package_count: 'text',
    finished_at: 'time',
  },
  exports: {
    id: 'text',
    site_id: 'text',
    state: 'text',
    reason: 'text',
    requested_by: 'text',
    started_at: 'time',
    ended_at: 'time',
    seed: 'bytes',
  },
  export_jobs: {
    export_id: 'text',
    tenant_id: 'text',
    site_id: 'text',
    requested_by: 'text',
    channel: 'text',
    requested_at: 'time',
    filter: 'text',
    by_visitor: 'text',
    sealed_visitor: 'bytes',
    disclose: 'text',
    chunks: 'text',
    sha256: 'bytes',
    checkpoint: 'text',
    counts: 'text',
    sealed_disclosures: 'bytes',
    expires_at: 'time',
    deleted_at: 'time',
  },
  audit_log: {
    seq: 'text',
    at: 'time',
    tenant_id: 'text',
    actor_kind: 'text',
    actor_id: 'text',
    action: 'text',
    subject_kind: 'text',
    subject_id: 'text',
    details: 'text',
  },
} as const satisfies Readonly<Record<SealedTable, Readonly<Record<string, Form>>>>;

/** Primary keys that are not `id`. */
const OTHER_KEYS: Readonly<Partial<Record<SealedTable, string>>> = {
  subscriptions: 'tenant_id',
  site_config_drafts: 'site_id',
  export_jobs: 'export_id',
  audit_log: 'seq',
};

/** Returns the column that is the primary key of a sealed table. */
export function keyOfSealed(table: SealedTable): string {
  return OTHER_KEYS[table] ?? 'id';
}

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

/**
 * Returns the columns of `sealColumns` as one JSON value, for a statement that reads several sealed rows:
 * see `SealJson`.
 * @param alias name of the table in the statement
 */
export function sealJson(table: SealedTable, alias: string): string {
  return `jsonb_build_object('sealed_text', ${sealedText(table, alias)}, 'seal', encode(${alias}.seal, 'hex'))`;
}

/** A value of `sealJson`. */
export const SealJson = z
  .object({ sealed_text: z.string(), seal: z.string().nullable() })
  .transform((row): SealColumns => ({ ...row, seal: row.seal === null ? null : Buffer.from(row.seal, 'hex') }));

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
  id: z.string(),
  before: z.string().nullable(),
});
type Change = z.infer<typeof Change>;
const TextRows = z.array(SealColumns).max(1);

/**
 * Seals the rows that a transaction changed, before its commit. Triggers list the changes in a setting of
 * the transaction, which no other session can write. A row that was altered before the transaction
 * stays without a valid seal: a change by the service must not launder one by SQL.
 * @throws ChangeRefused if the transaction publishes, activates or copies an altered document version
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
      if (table === 'document_versions') await refusePublished(db, id);
      continue;
    }
    const found = await db.query(
      `select ${sealColumns(table, 'r')} from ${table} r where r.${keyOfSealed(table)} = $1`,
      [id],
    );
    const [row] = TextRows.parse(found.rows);
    if (row === undefined || isSealedWith(key, row)) continue;
    await db.query(`update ${table} set seal = $2 where ${keyOfSealed(table)} = $1`, [
      id,
      hmacSha256(key, row.sealed_text),
    ]);
  }
}

/** Refuses to publish or activate an altered text: published texts stay in the log for ever. @throws ChangeRefused */
async function refusePublished(db: pg.PoolClient, id: string): Promise<void> {
  const { rows } = await db.query("select from document_versions where id = $1 and state in ('published', 'active')", [
    id,
  ]);
  if (rows.length === 0) return;
  throw new ChangeRefused(
    'wrong_state',
    `The row of the document version ${id} was altered in the database, not by the service. Ask the operator, or draft the text anew.`,
  );
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
