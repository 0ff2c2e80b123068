import { readFileSync, writeFileSync } from 'node:fs';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { FINDING_KINDS, type Finding } from '../../src/audit/finding.js';
import { sampled } from '../support/sweeps.js';
import { type AuditedInstallation, recordInstallation } from './audited-installation.js';
import { UNCHECKED_COLUMNS } from './unchecked-columns.js';

/** A column of a table that the migrations or the projector made. */
const Column = z.object({
  /** Table, with its schema unless it is `public`. */
  table: z.string(),
  name: z.string(),
  type: z.string(),
  key: z.array(z.string()),
  /** Whether it is the last column of a unique index. */
  endsUnique: z.boolean(),
});
type Column = z.infer<typeof Column>;
const Row = z.tuple([z.object({ place: z.string(), before: z.string().nullable(), key: z.string() })]);

/** Condition for the row to alter, for tables in which not every row is suitable. */
const CHOSEN: Readonly<Record<string, string>> = {
  // The others are needed to open what the audit reads; those are altered apart.
  keyring: `purpose = 'jwt'`,
  'audit_log.actor_kind': `actor_kind = 'operator'`,
  document_attachments: 'detached_at is not null',
  document_versions: `state = 'active'`,
  record_keys: `visitor_index is not null and id_number_index is not null`,
  erased_records: `request_id is not null`,
  exports: `state = 'finished' and seed is not null`,
  export_jobs: `sealed_disclosures is not null`,
  persons: `(site_id, visitor_index) in (
    select k.site_id, k.visitor_index from record_keys k join sealed_events e on e.event_id = k.event_id)`,
  approval_tokens: `consumed_by is not null`,
  batches: `count > 1`,
  erasure_requests: `erased_count > 0`,
  'event_log.streams': `name like 'consents-%'`,
  'event_log.waiting': `number = (select min(number) from event_log.waiting)`,
  ledger_events: `type = 'BatchSealed.v1'`,
  'event_log.events': `type = 'ConsentRecorded.v1' and revision = 0`,
};

/** Another value of a column, by its place or its type. */
const OTHER: Readonly<Record<string, string>> = {
  'users.role': `case role when 'owner' then 'admin' else 'owner' end`,
  'users.email': `'other@example.org'`,
  'invitations.role': `case role when 'owner' then 'admin' else 'owner' end`,
  'invitations.email': `'other@example.org'`,
  'api_keys.is_test': 'case when is_test is null then true end',
  'api_keys.scope': `case scope when 'read' then 'write' else 'read' end`,
  'sign_ins.lapses_at': `lapses_at - interval '1 second'`,
  'sign_ins.end_reason': `'token_reused'`,
  'document_versions.state': `'retired'`,
  'erasure_requests.channel': `case channel when 's2s' then 'operator' else 's2s' end`,
  'erasure_requests.reason': `'retention'`,
  'erasure_requests.index_kind': `'id_number'`,
  'erased_records.reason': `'retention'`,
  'sites.proof': `case when proof = 'dns' then 'file' else 'dns' end`,
  'exports.state': `'failed'`,
  'export_jobs.channel': `case channel when 's2s' then 'panel' else 's2s' end`,
  'audit_log.actor_kind': `case actor_kind when 'service' then 'operator' else 'service' end`,
  'audit_log.action': `'nothing.at_all'`,
  'projections.name': `'other'`,
  'projections.state': `'needs_rebuild'`,
  'projections.problem': `'{"reason": "none"}'`,
  'projection_generations.name': `'other'`,
  'projection_generations.position': `lpad((position::numeric + 1000)::text, 20, '0')`,
  'projection_generations.version': `version + 1`,
  'sealer_state.log_position': `lpad((log_position::numeric + 1000)::text, 20, '0')`,
  'sealer_state.ledger_revision': `ledger_revision + 5`,
  'site_configs.sha256': `encode(sha256('other'), 'hex')`,
  'notice_contents.sha256': `encode(sha256('other'), 'hex')`,
  'keyring.purpose': `'other'`,
  'evidence_parts.kind': `case kind when 'crl' then 'ocsp' else 'crl' end`,
  'event_log.events.revision': `revision + 1000000`,
  'event_log.events.data': `convert_to(replace(convert_from(data, 'UTF8'), 'accepted', 'rejected'), 'UTF8')`,
  uuid: 'gen_random_uuid()',
  'uuid[]': 'array[gen_random_uuid()]',
  bytea: `sha256(random()::text::bytea)`,
  boolean: 'not {}',
  jsonb: `'{"other": true}'`,
  date: `{} + 1`,
  'text[]': `array['other']`,
  'cidr[]': `array['10.0.0.0/8']::cidr[]`,
  text: `coalesce({}, '') || 'x'`,
  smallint: 'coalesce({}, 0) + 20',
  integer: 'coalesce({}, 0) + 1000',
  bigint: 'coalesce({}, 0) + 1000',
  'timestamp with time zone': `coalesce({}, now()) - interval '1 hour'`,
};

/** Alterations that stop the comparison of other tables, and are therefore made alone. */
const isAlone = ({ table, name }: Column): boolean =>
  table.startsWith('event_log.') ||
  [
    'sealer_state',
    'event_log_identity',
    'schema_migrations',
    'attachments',
    'export_chunks',
    'site_configs',
    'site_scans',
  ].includes(table) ||
  table === 'projections' ||
  table === 'projection_generations' ||
  (table === 'sealed_events' && name === 'person_tag');

/** Names of the same table in findings: read models are named as their views. */
const namedAs = (table: string): string =>
  table.replace(/^rm_\w+?_\d+\./, 'read_model.').replace(/^rm_.*\./, 'read_model.');

/** Tables whose rows have another name in findings than their key. */
const NAMED_BY: Readonly<Record<string, readonly string[]>> = {
  'event_log.events': ['id'],
  'event_log.streams': ['name'],
  'event_log.waiting': ['number'],
};

/** Tables of which a deleted row is not missed: no other row demands it. */
const UNDEMANDED: readonly string[] = [
  'api_keys',
  'audit_log',
  'cosignatures',
  'document_attachments',
  'documents',
  'erasure_requests',
  'event_log_identity',
  'export_jobs',
  'exports',
  'invitations',
  'keyring',
  'manifest_certificates',
  'notice_contents',
  'passkeys',
  'password_resets',
  'sign_ins',
  'site_config_drafts',
  'sites',
  'subscriptions',
  'tenants',
  'users',
  'webhooks',
];
/** Deleted rows that a row of another table shows, which is reported. */
const SHOWN_BY: Readonly<Record<string, string>> = { 'event_log.waiting': 'event_log.streams' };
/** Tables in which a copy of a row is not found: it belongs to a projection that does not exist. */
const UNREAD_COPIES: readonly string[] = ['projection_generations', 'projection_views'];
/** A value that no row has, by type: a copy has it in the last column of each unique index. */
const NEW: Readonly<Record<string, string>> = {
  uuid: `'00000000-0000-4000-8000-000000000001'`,
  bytea: `decode('00', 'hex')`,
  text: `'copy'`,
  smallint: '4711',
  integer: '4711',
  bigint: '4711',
  date: `'2000-01-01'`,
};

describe('an audit of an installation', () => {
  let made: AuditedInstallation;
  let db: pg.Pool;
  let columns: readonly Column[];
  let untouched: readonly Finding[];
  /** Findings beside those of the schema that `beforeAll` made. */
  let audit: () => Promise<readonly Finding[]>;
  beforeAll(async () => {
    made = await recordInstallation();
    db = made.app.superuser;
    untouched = await made.audit();
    // Not even the owner may update these columns otherwise.
    await db.query(`alter table event_log.waiting alter number drop identity;
      alter table event_log.streams alter number drop identity; alter table audit_log alter seq drop identity`);
    await dropChecks(db);
    columns = await readColumns(db);
    const dropped = new Set((await made.audit()).map((finding) => JSON.stringify(finding)));
    audit = async () => (await made.audit()).filter((finding) => !dropped.has(JSON.stringify(finding)));
  });
  afterAll(() => made?.remove());

  const isUnchecked = ({ table, name }: Column): boolean => {
    const reasons = UNCHECKED_COLUMNS[table];
    return reasons !== undefined && (Object.hasOwn(reasons, '*') || Object.hasOwn(reasons, name));
  };

  it('finds nothing where nothing was altered', () => {
    expect(untouched).toEqual([]);
  });

  it('names each check and identity that was dropped', async () => {
    const dropped = await made.audit();
    expect([...new Set(dropped.map(({ kind }) => kind))]).toEqual(['protection-missing']);
    expect(dropped).toContainEqual(
      expect.objectContaining({ table: 'api_keys', detail: expect.stringMatching(/^is missing: CHECK/) }),
    );
    expect(dropped).toContainEqual(expect.objectContaining({ table: 'audit_log', key: 'column seq' }));
  });

  it('finds a dropped index of a table, and of a read model', async () => {
    const { rows } = await db.query(
      `select schemaname, indexname, indexdef from pg_indexes
        where indexname = 'one_open_invitation' or schemaname like 'rm\\_consents\\_%' and indexname = 'consents$1'`,
    );
    expect(rows).toHaveLength(2);
    for (const { schemaname, indexname } of rows) await db.query(`drop index ${schemaname}."${indexname}"`);
    const findings = await audit();
    for (const { indexdef } of rows) await db.query(indexdef);
    expect(findings).toMatchObject([
      { kind: 'protection-missing', table: 'invitations', key: 'index one_open_invitation' },
      { kind: 'derived-differs', table: 'read_model.consents', key: 'index consents$1' },
    ]);
  });

  it('says once that the log lost its tail, and folds what may follow from it', async () => {
    const from = 'position > (select max(position) / 2 from event_log.runs)';
    await db.query(`create table kept_row as select * from event_log.runs where ${from}`);
    const { rows } = await db.query('select min(position)::text as first, sum(count)::int as events from kept_row');
    await unguarded(
      db,
      'event_log.runs',
      'delete from event_log.runs using kept_row k where runs.position = k.position',
      [],
    );
    const { findings, folded } = await made.auditWhole();
    await unguarded(db, 'event_log.runs', 'insert into event_log.runs select * from kept_row', []);
    await db.query('drop table kept_row');
    const others = findings.filter(({ kind }) => kind !== 'protection-missing');
    expect(others).toMatchObject([{ kind: 'log-tail-lost', table: 'event_log.events' }]);
    expect(others[0]?.detail).toContain(`the log lost its tail: ${rows[0]?.events} events`);
    expect(others[0]?.detail).toContain(`from position ${rows[0]?.first} on are gone`);
    expect(folded).toContainEqual(expect.objectContaining({ kind: 'derived-differs', table: 'ledger_events' }));
    expect(await audit()).toEqual([]);
  });

  it('knows only columns that exist as unchecked, and docs/operations.md lists them (UPDATE_DOCS=1 writes it)', () => {
    const known = new Set(columns.flatMap(({ table, name }) => [`${table}.${name}`, `${table}.*`]));
    const listed = Object.entries(UNCHECKED_COLUMNS).flatMap(([table, reasons]) =>
      Object.entries(reasons).map(([name, reason]) => ({ table, name, reason })),
    );
    for (const { table, name } of listed) expect(known, `${table}.${name}`).toContain(`${table}.${name}`);
    const lines = listed.map(
      ({ table, name, reason }) => `| \`${table}\` | ${name === '*' ? 'all' : `\`${name}\``} | ${reason} |`,
    );
    const head = '| Table | Column | Why the audit does not check it |\n|---|---|---|\n';
    const page = readFileSync('docs/operations.md', 'utf8');
    const [before = '', rest = ''] = page.split(head);
    const after = rest
      .split('\n')
      .slice(rest.split('\n').findIndex((line) => !line.startsWith('|')))
      .join('\n');
    const wanted = `${before}${head}${lines.join('\n')}\n${after}`;
    if (process.env.UPDATE_DOCS !== undefined) writeFileSync('docs/operations.md', wanted);
    expect(readFileSync('docs/operations.md', 'utf8')).toBe(wanted);
  });

  it('explains every kind of finding in docs/operations.md', () => {
    const page = readFileSync('docs/operations.md', 'utf8');
    for (const [kind, { meaning, action }] of Object.entries(FINDING_KINDS))
      expect(page).toContain(`| \`${kind}\` | ${meaning} | ${action} |`);
  });

  it('finds an alteration of any column of any table', async () => {
    const checked = columns.filter((column) => !isUnchecked(column));
    const missed: string[] = [];
    const empty: string[] = [];
    const refused: string[] = [];
    for (const round of sampled('altered columns', roundsOf(checked))) {
      const undo: (() => Promise<void>)[] = [];
      const altered: { readonly column: Column; readonly keys: readonly string[] }[] = [];
      for (const column of round) {
        const alteration = await alter(db, column).catch((error: Error) => {
          refused.push(`${column.table}.${column.name}: ${error.message}`);
          return null;
        });
        if (alteration === null) empty.push(`${column.table}.${column.name}`);
        else {
          altered.push({ column, keys: alteration.keys });
          undo.push(alteration.undo);
        }
      }
      const findings = await audit();
      for (const { column, keys } of altered)
        if (!isFound(findings, column, keys)) missed.push(`${column.table}.${column.name} (${keys.join(' -> ')})`);
      for (const restore of undo.reverse()) await restore();
    }
    expect({ missed, empty, refused }).toEqual({ missed: [], empty: [], refused: [] });
    expect(await audit()).toEqual([]);
  });

  /** Tables that the audit checks, without some. */
  const tablesBut = (without: readonly string[]): readonly string[] =>
    [...new Set(columns.filter((column) => !isUnchecked(column)).map(({ table }) => table))].filter(
      (table) => !without.includes(table),
    );
  /** Columns that are not generated. */
  const writtenIn = (table: string): string =>
    columns
      .filter((column) => column.table === table)
      .map(({ name }) => `"${name}"`)
      .join(', ');
  const conditionOf = (table: string): string => (CHOSEN[table] === undefined ? '' : `where ${CHOSEN[table]}`);

  it('finds a deleted row of any table whose rows others demand', async () => {
    const missed: string[] = [];
    for (const table of sampled('deleted rows', tablesBut(UNDEMANDED))) {
      await db.query(`create table kept_row as select * from ${table} ${conditionOf(table)} limit 1`);
      const key = columns.find((column) => column.table === table)?.key ?? [];
      const same = key.map((name) => `t."${name}" = k."${name}"`).join(' and ');
      await unguarded(db, table, `delete from ${table} t using kept_row k where ${same}`, []);
      const findings = await audit();
      const written = writtenIn(table);
      await unguarded(db, table, `insert into ${table} (${written}) select ${written} from kept_row`, []);
      await db.query('drop table kept_row');
      if (!findings.some((finding) => finding.table === (SHOWN_BY[table] ?? namedAs(table)))) missed.push(table);
    }
    expect(missed).toEqual([]);
  });

  it('finds a copied row of any table', async () => {
    const missed: string[] = [];
    for (const table of sampled('duplicated rows', tablesBut(UNREAD_COPIES))) {
      const others = columns.filter((column) => column.table === table && column.endsUnique);
      // A table for one row has no other key.
      if (others.some(({ type }) => type === 'boolean')) continue;
      const values = others.map(({ name, type }) => `'${name}', ${NEW[type]}`);
      const copy = `jsonb_populate_record(t, jsonb_build_object(${values.join(', ')}))`;
      const written = writtenIn(table);
      const sql = `insert into ${table} (${written}) select ${written} from (
        select (${copy}).* from ${table} t ${conditionOf(table)} limit 1) c returning true`;
      expect(await unguarded(db, table, sql, [])).toHaveLength(1);
      const findings = await audit();
      const copied = others.map(({ name, type }) => `"${name}" = ${NEW[type]}`);
      await unguarded(db, table, `delete from ${table} where ${copied.join(' and ')}`, []);
      if (!findings.some((finding) => finding.table === namedAs(table))) missed.push(table);
    }
    expect(missed).toEqual([]);
  });

  it('finds a document in use at a site without its attachment, and an attachment without its versions', async () => {
    const restored = async (table: string, condition: string): Promise<readonly Finding[]> => {
      await db.query(`create table kept_row as select * from ${table} where ${condition}`);
      await unguarded(db, table, `delete from ${table} where ${condition}`, []);
      const findings = await audit();
      await unguarded(db, table, `insert into ${table} select * from kept_row`, []);
      await db.query('drop table kept_row');
      return findings;
    };
    const active = `state = 'active' and home_version_id is not null`;
    const versions = await db.query(`select id::text from document_versions where ${active} order by 1`);
    expect(versions.rowCount).toBeGreaterThan(0);
    const unattached = await restored('document_attachments', 'detached_at is null');
    expect(new Set(unattached.map(({ kind, table }) => `${kind} ${table}`))).toEqual(
      new Set(['reference-differs document_versions']),
    );
    expect(unattached.map(({ key }) => key).toSorted()).toEqual(versions.rows.map(({ id }) => id));
    const attached = await db.query('select id from document_attachments where detached_at is null');
    expect(await restored('document_versions', active)).toContainEqual(
      expect.objectContaining({ kind: 'reference-differs', table: 'document_attachments', key: attached.rows[0]?.id }),
    );
  });

  it('finds an event whose stream has no row', async () => {
    const sql = `insert into event_log.events select (jsonb_populate_record(e, '{"stream": 4711}')).* from event_log.events e limit 1`;
    await unguarded(db, 'event_log.events', sql, []);
    const findings = await audit();
    await unguarded(db, 'event_log.events', 'delete from event_log.events where stream = 4711', []);
    expect(findings).toContainEqual(expect.objectContaining({ table: 'event_log.streams', key: '4711' }));
  });

  it('finds a tag that two sealed events have', async () => {
    await db.query(
      `create table kept_row as select * from sealed_events where person_tag is not null order by batch, index limit 2`,
    );
    await db.query(
      `update sealed_events e set person_tag = (select person_tag from kept_row order by batch, index limit 1)
         from kept_row k where e.event_id = k.event_id`,
    );
    const findings = await audit();
    await db.query(
      'update sealed_events e set person_tag = k.person_tag from kept_row k where e.event_id = k.event_id',
    );
    await db.query('drop table kept_row');
    expect(findings).toContainEqual(
      expect.objectContaining({
        table: 'sealed_events',
        detail: expect.stringMatching('the tag is sealed more than once'),
      }),
    );
  });

  it('finds nothing once all is restored', async () => {
    expect(await audit()).toEqual([]);
  });

  it('finds a site that is quarantined, and a trigger that is disabled', async () => {
    await db.query(`insert into quarantined_sites (site_id, reason) values (gen_random_uuid(), 'a test')`);
    await db.query('alter table users disable trigger changes_are_sealed');
    const findings = await audit();
    await db.query('alter table users enable trigger changes_are_sealed');
    await db.query('delete from quarantined_sites');
    expect(findings).toMatchObject([
      { kind: 'protection-missing', table: 'users', key: 'trigger changes_are_sealed' },
      { kind: 'stopped-part', table: 'quarantined_sites' },
    ]);
  });
});

/** One column of each table in a round; some are alone. */
function roundsOf(columns: readonly Column[]): readonly (readonly Column[])[] {
  const byTable = new Map<string, Column[]>();
  for (const column of columns.filter((one) => !isAlone(one)))
    byTable.set(column.table, [...(byTable.get(column.table) ?? []), column]);
  const longest = Math.max(...[...byTable.values()].map((list) => list.length));
  const together = Array.from({ length: longest }, (_, place) =>
    [...byTable.values()].flatMap((list) => list[place] ?? []),
  );
  return [...together, ...columns.filter(isAlone).map((column) => [column])];
}

function isFound(findings: readonly Finding[], { table, name }: Column, keys: readonly string[]): boolean {
  return findings.some(
    (finding) =>
      finding.table === namedAs(table) &&
      (finding.columns.length === 0 || finding.columns.includes(name)) &&
      (finding.key === '' || keys.some((key) => key === finding.key || key.split(' ').includes(finding.key))),
  );
}

/** Checks of values are no protection against the owner of the tables. */
async function dropChecks(db: pg.Pool): Promise<void> {
  const { rows } = await db.query(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as sql from pg_constraint
      where contype = 'c' and conrelid <> 0 and conislocal and connamespace in ('public'::regnamespace, 'event_log'::regnamespace)`,
  );
  for (const { sql } of z.array(z.object({ sql: z.string() })).parse(rows)) await db.query(sql);
}

async function readColumns(db: pg.Pool): Promise<readonly Column[]> {
  const { rows } = await db.query(
    `select case when n.nspname = 'public' then '' else n.nspname || '.' end || c.relname as table, a.attname::text as name,
            format_type(a.atttypid, a.atttypmod) as type,
            exists (select from pg_index i where i.indrelid = c.oid and i.indisunique and i.indkey[i.indnkeyatts - 1] = a.attnum) as "endsUnique",
            array(select k.attname::text from pg_index i join unnest(i.indkey) with ordinality x (num, place) on true
                    join pg_attribute k on k.attrelid = c.oid and k.attnum = x.num where i.indrelid = c.oid and i.indisprimary order by x.place) as key
       from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
      where c.relkind in ('r', 'p') and not c.relispartition and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        and (n.nspname in ('public', 'event_log') or n.nspname like 'rm\\_%')
      order by 1, a.attnum`,
  );
  return z.array(Column).parse(rows);
}

/**
 * Alters one value of one row, past all triggers and foreign keys.
 * @returns the keys of the row before and after, and how to restore it; null: the table is empty
 */
async function alter(
  db: pg.Pool,
  column: Column,
): Promise<{ readonly keys: readonly string[]; readonly undo: () => Promise<void> } | null> {
  const { table, name, type, key } = column;
  const quoted = `"${name}"`;
  const names = NAMED_BY[table] ?? key;
  const keyText = names.map((one) => `"${one}"::text`).join(` || ' ' || `);
  const given = CHOSEN[`${table}.${name}`] ?? CHOSEN[table];
  const chosen = await db.query(
    `select ctid::text as place, ${quoted}::text as before, ${keyText} as key from ${table}
      ${given === undefined ? '' : `where ${given}`} order by ${quoted} is null, ctid limit 1`,
  );
  const parsed = Row.safeParse(chosen.rows);
  if (!parsed.success) return null;
  const [{ place, before, key: oldKey }] = parsed.data;
  const other = (OTHER[`${table}.${name}`] ?? OTHER[type] ?? 'null').replaceAll('{}', quoted);
  const set = async (at: string, sql: string, values: readonly unknown[]) =>
    unguarded(
      db,
      table,
      `update ${table} set ${quoted} = ${sql} where ctid = '${at}' returning ctid::text as place, ${quoted}::text as before, ${keyText} as key`,
      values,
    );
  const [after] = Row.parse(await set(place, other, []));
  expect(after.before, `${table}.${name} is altered`).not.toBe(before);
  return {
    // The audit writes bytes without the prefix of PostgreSQL.
    keys: [oldKey, after.key].map((one) => one.replaceAll('\\x', '')),
    undo: async () => {
      await set(after.place, `$1::text::${type}`, [before]);
    },
  };
}

const ALWAYS_GUARDED: Readonly<Record<string, readonly string[]>> = {
  'event_log.events': ['append_only', 'kept_in_log'],
  'event_log.runs': ['append_only'],
};

async function unguarded(db: pg.Pool, table: string, sql: string, values: readonly unknown[]): Promise<unknown[]> {
  const client = await db.connect();
  try {
    await client.query('begin');
    await client.query('set local session_replication_role = replica');
    // These triggers work in replicas as well. The lock of their change would wait for readers.
    const triggers = ALWAYS_GUARDED[table] ?? [];
    for (const trigger of triggers) await client.query(`alter table ${table} disable trigger ${trigger}`);
    const { rows } = await client.query(sql, [...values]);
    for (const trigger of triggers) await client.query(`alter table ${table} enable always trigger ${trigger}`);
    await client.query('commit');
    return rows;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}
