import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { expect } from 'vitest';
import * as z from 'zod';
import { inclusionRanges, nodesOfRanges } from '../../../schemas/merkle/proofs.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { inStream } from '../../pipeline/event-log/postgres-fixture.js';

/** One column of one row that verify reads, and a way to alter it. */
export interface Alteration {
  readonly table: string;
  readonly column: string;
  /** SQL of another value of the same type. */
  readonly value: string;
  readonly where: string;
}

/** Alters the column, as an attacker who controls the database could. */
export async function alter(superuser: pg.Pool, { table, column, value, where }: Alteration): Promise<void> {
  await forced(superuser, `update ${table} set ${column} = ${value} where ${where} returning 1`, `${table}.${column}`);
}

async function forced(superuser: pg.Pool, sql: string, name: string): Promise<void> {
  const client = await superuser.connect();
  try {
    // Without triggers and foreign keys, because the attacker controls the database.
    await client.query("set session_replication_role = 'replica'");
    const { rowCount } = await client.query(sql);
    expect(rowCount, name).toBe(1);
  } finally {
    await client.query('reset session_replication_role');
    client.release();
  }
}
/** Restores the former value. */
export async function restore(
  superuser: pg.Pool,
  { table, column, value, where }: Alteration,
  text: string | null,
): Promise<void> {
  // A key column was altered, too: the row is found by its altered value.
  const isKey = where.includes(`${column} =`);
  const found = isKey ? where.replace(new RegExp(`\\b${column} = ('[^']*'|\\d+)`), `${column} = ${value}`) : where;
  const literal = text === null ? 'null' : `'${text.replaceAll("'", "''")}'`;
  await forced(
    superuser,
    `update ${table} set ${column} = ${literal} where ${found} returning 1`,
    `${table}.${column}`,
  );
}

/**
 * Every column that verify reads for a record, with a wrong value for each.
 * @param other a tenant that does not own the record
 */
export async function alterationsOf(superuser: pg.Pool, eventId: string, other: SeededDemo): Promise<Alteration[]> {
  const { rows } = await superuser.query(
    `select l.batch, l.index, l.stream, l.revision, s.number, before.batch as batch_before, before.index as index_before, p.live_generation as generation, c.size, r.site_id,
              ((convert_from(e.data, 'utf8')::jsonb ->> 'record')::jsonb) ->> 'site_config_hash' as config
         from leaves l join projections p on p.name = 'consents' join read_model.consents r on r.event_id = l.event_id
         join event_log.events e on e.id = l.event_id
         join sealed_streams s on s.stream = l.stream
         join sealed_events before on before.stream = s.number and before.revision = l.revision - 1
         cross join lateral (select size from checkpoints where size > l.batch order by size limit 1) c
        where l.event_id = $1`,
    [eventId],
  );
  const place = z
    .tuple([
      z.object({
        batch: z.int(),
        index: z.int(),
        stream: z.string(),
        revision: z.int(),
        number: z.int(),
        batch_before: z.int(),
        index_before: z.int(),
        generation: z.int(),
        size: z.int(),
        config: z.string(),
        site_id: z.string(),
      }),
    ])
    .parse(rows)[0];
  const { batch, stream, revision, number, size } = place;
  const otherHash = `decode(repeat('ab', 32), 'hex')`;
  const columns = (table: string, where: string, values: Readonly<Record<string, string>>): Alteration[] =>
    Object.entries(values).map(([column, value]) => ({ table, where, column, value }));
  return [
    ...columns(`rm_consents_${place.generation}.consents`, `event_id = '${eventId}'`, {
      event_id: `'${randomUUID()}'`,
      site_id: `'${other.site.id}'`,
      revision: String(revision + 1000),
      proof_hash: otherHash,
      consent_type: `'document_approval'`,
      decision: `'accepted'`,
      categories: `'{"necessary": true, "analytics": true}'`,
      language: `'tr'`,
      document_version_id: `'${randomUUID()}'`,
      compliance_framework: `'kvkk'`,
      created_at: `created_at + interval '1 millisecond'`,
      valid_until: 'null',
      channel: `'s2s'`,
      approval_token_id: `'atk_1'`,
      erased_by: String(revision),
    }),
    ...columns('event_log.events', `${inStream(stream)} and revision = ${revision}`, {
      id: `'${randomUUID()}'`,
      type: `'SubjectErased.v1'`,
      data: `convert_to(replace(convert_from(data, 'utf8'), 'partial', 'accepted'), 'utf8')`,
    }),
    ...columns('record_keys', `event_id = '${eventId}'`, {
      event_id: `'${randomUUID()}'`,
      site_id: `'${other.site.id}'`,
    }),
    ...columns('sealed_events', `stream = ${number} and revision = ${revision}`, {
      batch: '100000',
      index: '100000',
      stream: '100000',
      revision: String(revision + 1000),
      event_id: `'${randomUUID()}'`,
    }),
    ...columns('sealed_events', `stream = ${number} and revision = ${revision - 1}`, {
      stream: '100000',
      revision: String(revision + 1000),
    }),
    ...[
      { batch, index: place.index },
      { batch: place.batch_before, index: place.index_before },
    ].flatMap((leaf) =>
      columns('batches', `number = ${leaf.batch}`, {
        leaves: `overlay(leaves placing ${otherHash} from ${leaf.index * 32 + 1} for 32)`,
      }),
    ),
    ...columns('sealed_streams', `stream = '${stream}'`, {
      number: '100000',
      stream: `'consents-${other.site.id}'`,
      revision: String(revision - 1),
      leaf: otherHash,
    }),
    ...columns('batches', `number = ${batch}`, {
      number: '100000',
      header: `replace(header, '"count":', '"count" :')`,
      count: 'count + 1',
      root: otherHash,
      sealed_at: `sealed_at + interval '1 millisecond'`,
    }),
    ...columns('ledger_nodes', `level = 0 and index = ${batch}`, { level: '30', index: '100000', hash: otherHash }),
    ...nodesOfRanges(inclusionRanges(batch, size)).flatMap((node) =>
      columns('ledger_nodes', `level = ${node.level} and index = ${node.index}`, { hash: otherHash }),
    ),
    ...columns('checkpoints', `size = ${size}`, {
      note: `replace(note, E'\\n\\n', E'\\nx\\n\\n')`,
      tokens: 'tokens + 1',
      gen_time: `gen_time + interval '1 second'`,
    }),
    ...columns('checkpoint_tokens', `size = ${size}`, {
      size: '100000',
      tsr: `tsr || '\\x00'`,
      tsr_sha256: `'${'ab'.repeat(32)}'`,
      gen_time: `gen_time + interval '1 second'`,
    }),
    ...columns('ledger_keys', 'true', { key: `replace(key, 'localhost', 'elsewhere')` }),
    ...columns('site_configs', `sha256 = '${place.config}'`, {
      sha256: `'${'ab'.repeat(32)}'`,
      record: `replace(record, 'shop-', 'shap-')`,
    }),
    ...columns('sites', `id = '${place.site_id}'`, { tenant_id: `'${other.tenant_id}'` }),
  ];
}
