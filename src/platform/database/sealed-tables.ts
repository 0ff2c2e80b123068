import * as z from 'zod';
import type { Queryable } from './pool.js';

interface Declaration {
  /** The column of the primary key. */
  readonly key: string;
  /**
   * Columns that grant nothing, such as marks of use and what a run writes about itself. All other columns are under
   * the row seal.
   */
  readonly unsealed: readonly string[];
  /** `reading` if the service checks a row when it reads the row, `audit` if only `consent-ledger audit` does. */
  readonly checkedBy: 'reading' | 'audit';
}

/**
 * Tables whose rows are not protected by any other record: those that grant rights, and those that say what the service
 * and its users did. Each has a column `seal`, a keyed hash of all its other columns except those named here. A column
 * in CREATE TABLE is therefore sealed without further changes. A column that a later migration adds is null in existing
 * rows, because only the service can seal another value. Triggers, row seals, readers and the audit are derived from
 * this list.
 */
export const SEALED_TABLES = {
  tenants: { key: 'id', unsealed: [], checkedBy: 'audit' },
  subscriptions: { key: 'tenant_id', unsealed: [], checkedBy: 'reading' },
  users: { key: 'id', unsealed: ['last_sign_in_at'], checkedBy: 'reading' },
  sites: { key: 'id', unsealed: ['config_revision'], checkedBy: 'reading' },
  api_keys: { key: 'id', unsealed: ['last_used_at', 'live_host', 'live_seen_at'], checkedBy: 'reading' },
  webhooks: { key: 'id', unsealed: [], checkedBy: 'reading' },
  passkeys: { key: 'id', unsealed: [], checkedBy: 'reading' },
  sign_ins: { key: 'id', unsealed: [], checkedBy: 'reading' },
  invitations: { key: 'id', unsealed: [], checkedBy: 'reading' },
  password_resets: { key: 'id', unsealed: [], checkedBy: 'reading' },
  documents: { key: 'id', unsealed: [], checkedBy: 'reading' },
  document_attachments: { key: 'id', unsealed: [], checkedBy: 'reading' },
  document_versions: { key: 'id', unsealed: [], checkedBy: 'reading' },
  site_config_drafts: { key: 'site_id', unsealed: [], checkedBy: 'audit' },
  approval_tokens: { key: 'id', unsealed: ['consumed_by'], checkedBy: 'reading' },
  erasure_requests: { key: 'id', unsealed: [], checkedBy: 'reading' },
  exports: { key: 'id', unsealed: [], checkedBy: 'audit' },
  export_jobs: {
    key: 'export_id',
    unsealed: ['claim', 'attempts', 'retry_at', 'heartbeat_at', 'started_at', 'step', 'done', 'total', 'bytes'],
    checkedBy: 'reading',
  },
  audit_log: { key: 'seq', unsealed: [], checkedBy: 'audit' },
} as const satisfies Readonly<Record<string, Declaration>>;

export type SealedTable = keyof typeof SEALED_TABLES;

const isSealedTable = (name: string): name is SealedTable => Object.hasOwn(SEALED_TABLES, name);
export const SEALED_TABLE_NAMES = Object.keys(SEALED_TABLES).filter(isSealedTable);

/** The trigger that lists changed rows for their seals (20-row-seals.sql). */
export const SEAL_TRIGGER = 'changes_are_sealed';

const Statements = z.array(z.object({ statement: z.string() }));

/**
 * Gives each sealed table the trigger over its sealed columns. A correct trigger is left alone, so that the start of a
 * process locks no table.
 * @param db a handle in a transaction, logged in as the schema's owner, without a role
 */
export async function restateSealTriggers(db: Queryable): Promise<void> {
  const tables = Object.entries(SEALED_TABLES).map(([name, { key, unsealed }]) => ({ name, key, unsealed }));
  const { rows } = await db.query(
    `select format('create or replace trigger ${SEAL_TRIGGER} after insert or update of %s on %I
                      for each row execute function note_changed_row(%L)', c.names, d.name, d.key) as statement
       from jsonb_to_recordset($1::jsonb) as d (name text, key text, unsealed text[])
       join pg_class t on t.oid = to_regclass(d.name)
       cross join lateral (
         select array_agg(attnum order by attnum) as numbers, string_agg(quote_ident(attname), ', ' order by attnum) as names
           from pg_attribute where attrelid = t.oid and attnum > 0 and not attisdropped
            and attname <> 'seal' and attname <> all (d.unsealed)) c
      where not exists (select from pg_trigger where tgrelid = t.oid and tgname = '${SEAL_TRIGGER}'
                           and array(select unnest(tgattr::int2[])) = c.numbers)`,
    [JSON.stringify(tables)],
  );
  for (const { statement } of Statements.parse(rows)) await db.query(statement);
}
