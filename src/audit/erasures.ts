import * as z from 'zod';
import { counted } from '../../schemas/text/counted.js';
import { consentsStreamSql } from '../platform/database/shared-statements.js';
import { PAGE, type Section } from './section.js';

const Rows = z.array(z.object({ key: z.string() }));

/**
 * Statements that find contradictory rows. Each is one statement, and therefore reads one snapshot. `OFFSET
 * 0` keeps a look-up by key from becoming a pass over the table in which it looks.
 */
const CONTRADICTIONS = [
  {
    table: 'erased_records',
    columns: [],
    detail: 'the erased record is neither stored nor in a batch',
    sql: `select event_id::text as key from erased_records e
           where not exists (select from sealed_events l where l.event_id = e.event_id)
             and not exists (select from event_log.unsealed_events o where o.id = e.event_id)`,
  },
  {
    table: 'erased_records',
    columns: ['site_id'],
    detail: 'the erased record is of another site',
    sql: `select e.event_id::text as key from erased_records e
            cross join lateral (select stream from leaves where event_id = e.event_id offset 0) l
           where l.stream <> ${consentsStreamSql('e.site_id')}`,
  },
  {
    table: 'erased_records',
    columns: ['erasure_event_id'],
    detail: 'its announcement is not among the events of erasures',
    sql: `select event_id::text as key from erased_records e
           where erasure_event_id is not null
             and not exists (select from erasure_events a where a.event_id = e.erasure_event_id)`,
  },
  {
    table: 'erased_records',
    columns: ['erasure_event_id'],
    detail: 'the record counts as not announced, and the log has its erasure',
    sql: `select e.event_id::text as key from erased_records e join read_model.consents c on c.event_id = e.event_id
           where e.erasure_event_id is null and c.erased_by is not null`,
  },
  {
    table: 'erased_records',
    columns: ['request_id', 'reason'],
    detail: 'the erasure that it names has another site or reason',
    sql: `select e.event_id::text as key from erased_records e join erasure_requests r on r.id = e.request_id
           where r.site_id <> e.site_id or r.reason <> e.reason`,
  },
  {
    table: 'erased_records',
    columns: ['request_id'],
    detail: 'the erasure that it names does not exist',
    sql: `select e.event_id::text as key from erased_records e
           where request_id is not null and not exists (select from erasure_requests r where r.id = e.request_id)`,
  },
  {
    table: 'erasure_events',
    columns: ['request_id'],
    detail: 'the record of this event belongs to another erasure',
    sql: `select a.event_id::text as key from erasure_events a join erased_records e on e.erasure_event_id = a.event_id
           where a.request_id is distinct from e.request_id`,
  },
  {
    table: 'erasure_events',
    columns: ['event_id'],
    detail: 'this event is neither stored nor in a batch',
    sql: `select event_id::text as key from erasure_events a
           where not exists (select from sealed_events l where l.event_id = a.event_id)
             and not exists (select from event_log.unsealed_events o where o.id = a.event_id)`,
  },
  {
    table: 'erasure_requests',
    columns: ['erased_count'],
    detail: 'the number of records that name this erasure is another',
    sql: `select r.id::text as key from erasure_requests r
           where erased_count <> (select count(*) from erased_records e where e.request_id = r.id)`,
  },
  {
    table: 'approval_tokens',
    columns: ['consumed_by'],
    detail: 'the record that used the token does not name it',
    sql: `select t.id as key from approval_tokens t
           where consumed_by is not null
             and not exists (select from read_model.consents c
                              where c.event_id = t.consumed_by and c.approval_token_id = t.id offset 0)
             and not (exists (select from record_keys k where k.event_id = t.consumed_by offset 0)
                      and not exists (select from read_model.consents c where c.event_id = t.consumed_by offset 0))`,
  },
  {
    table: 'attachments',
    columns: ['event_id'],
    detail: 'its record has no key',
    sql: `select a.id::text as key from attachments a where not exists (select from record_keys k where k.event_id = a.event_id)`,
  },
] as const;

const LostRows = z.array(z.object({ site_id: z.string(), records: z.int(), first: z.string() }));

/** A restore of an older database loses thousands of keys at once: each site is one finding. */
async function findLostKeys({ db, findings }: Section): Promise<void> {
  const { rows } = await db.query(
    `select c.site_id, count(*)::int as records, min(c.event_id::text) as first from read_model.consents c
      where not exists (select from record_keys k where k.event_id = c.event_id)
        and not exists (select from erased_records e where e.event_id = c.event_id)
      group by c.site_id`,
  );
  for (const { site_id: key, records, first } of LostRows.parse(rows))
    findings.add({
      kind: 'record-without-key',
      table: 'record_keys',
      key,
      detail: `${counted(records, 'record')} of this site ${records === 1 ? 'has' : 'have'} no key, and no erasure explains it; the oldest is ${first}`,
    });
}

/** Compares the tables of erasures, approval tokens and attachments with each other and with the ledger. */
export async function auditErasures(section: Section): Promise<void> {
  const { db, findings, step } = section;
  for (const [done, { table, columns, detail, sql }] of CONTRADICTIONS.entries()) {
    const { rows } = await db.query(`${sql} limit ${PAGE}`);
    for (const { key } of Rows.parse(rows)) findings.add({ kind: 'reference-differs', table, key, columns, detail });
    await step(done + 1, CONTRADICTIONS.length + 1);
  }
  await findLostKeys(section);
  await step(CONTRADICTIONS.length + 1, CONTRADICTIONS.length + 1);
}
