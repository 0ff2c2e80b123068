import * as z from 'zod';
import { PROJECTIONS } from '../../projections/index.js';
import { POLICY_STREAM, SITE_STREAM, STREAMS_OF_NO_SITE } from '../../schemas/events/streams.js';
import { textLiteral } from '../platform/database/parameters.js';
import { consentsStreamSql } from '../platform/database/shared-statements.js';
import { type FindingKind, MAX_FINDINGS } from './finding.js';
import type { Section } from './section.js';
import type { SectionName } from './state-file.js';

/**
 * A statement that finds rows that contradict others. A single statement reads a single snapshot. `OFFSET 0` prevents
 * PostgreSQL from turning a look-up by key into a scan of the whole table.
 */
interface Contradiction {
  /** The default is `reference-differs`. */
  readonly kind?: FindingKind;
  readonly table: string;
  readonly columns?: readonly string[];
  /** If absent, each row has its own. */
  readonly detail?: string;
  /** Returns `key` and, without `detail`, `detail`. */
  readonly sql: string;
}

/** The numbers of streams with events, from stream to stream, without the events of each. */
const OWNERS = `with recursive owners (stream) as (
  (select stream from event_log.events order by stream limit 1)
  union all
  select (select e.stream from event_log.events e where e.stream > o.stream order by e.stream limit 1)
    from owners o where o.stream is not null)`;

/** Number of bytes that encryption adds to a piece of an export: version, nonce and tag. */
const PIECE_OVERHEAD = 1 + 12 + 16;

/** The views of the service's projections. */
const OWN_VIEWS = `(values ${PROJECTIONS.flatMap(({ name, tables }) =>
  Object.keys(tables).map((view) => `(${textLiteral(view)}, ${textLiteral(name)})`),
).join(', ')}) w (view, name)`;

/** The rows that are compared with each other, because neither derives from the log alone, by section. */
const CONTRADICTIONS: Readonly<Partial<Record<SectionName, readonly Contradiction[]>>> = {
  keys: [
    {
      kind: 'derived-differs',
      table: 'persons',
      detail: 'the person of this sealed record has no row',
      sql: `select k.event_id::text as key from record_keys k join sealed_events l on l.event_id = k.event_id
             where k.visitor_index is not null
               and not exists (select from persons p where p.site_id = k.site_id and p.visitor_index = k.visitor_index)`,
    },
  ],
  ledger: [
    {
      // A tag that is sealed twice would let a package hide one of the two records.
      kind: 'ledger-corrupt',
      table: 'sealed_events',
      columns: ['person_tag'],
      sql: `select encode(person_tag, 'hex') as key, 'the tag is sealed more than once: ' ||
                   string_agg(s.stream || ' ' || e.revision, ', ' order by e.batch, e.index) as detail
              from sealed_events e join sealed_streams s on s.number = e.stream
             where e.person_tag in (select person_tag from sealed_events group by person_tag having count(*) > 1)
             group by e.person_tag`,
    },
  ],
  'read-models': [
    {
      kind: 'derived-differs',
      table: 'projection_generations',
      detail: 'the live generation has no row',
      sql: `select name || ' ' || live_generation as key from projections p
             where live_generation is not null
               and not exists (select from projection_generations g where g.name = p.name and g.generation = p.live_generation)`,
    },
    {
      // A projection that was loaded from a file has views of its own.
      kind: 'derived-differs',
      table: 'projections',
      detail: 'it has no view',
      sql: `select name as key from projections p
             where not exists (select from ${OWN_VIEWS} where w.name = p.name)
               and not exists (select from projection_views v where v.name = p.name)`,
    },
    {
      kind: 'derived-differs',
      table: 'projection_views',
      sql: `select w.view as key, 'the view must belong to ' || w.name as detail
              from ${OWN_VIEWS} left join projection_views v on v.view = w.view where v.name is distinct from w.name`,
    },
    {
      kind: 'derived-differs',
      table: 'projections',
      columns: ['live_generation'],
      sql: `select w.name as key, 'the view ' || w.view || ' does not show rm_' || w.name || '_' || g.generation as detail
              from ${OWN_VIEWS} join projections p on p.name = w.name
              join projection_generations g on g.name = p.name and g.generation = p.live_generation
             where not exists (
               select from pg_rewrite r
                 join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
                 join pg_class t on t.oid = d.refobjid
                where r.ev_class = to_regclass('read_model.' || quote_ident(w.view)) and t.oid <> r.ev_class
                  and t.relnamespace = to_regnamespace(quote_ident('rm_' || w.name || '_' || g.generation)))`,
    },
  ],
  catalogue: [
    {
      table: 'document_versions',
      detail: 'the version is in use at a site that its document is not attached to',
      sql: `select v.id::text as key from document_versions v join documents d on d.id = v.document_id
             where v.state in ('published', 'active') and v.site_id <> d.site_id
               and not exists (select from document_attachments a
                                where a.document_id = v.document_id and a.site_id = v.site_id and a.detached_at is null)`,
    },
    {
      table: 'document_attachments',
      detail: 'the site lacks a version that is in use at the home site of the document',
      sql: `select a.id::text as key from document_attachments a join documents d on d.id = a.document_id
             where a.detached_at is null and exists (
               select from document_versions h
                where h.document_id = d.id and h.site_id = d.site_id and h.state in ('published', 'active')
                  and not exists (select from document_versions v
                                   where v.home_version_id = h.id and v.site_id = a.site_id and v.state = h.state))`,
    },
  ],
  outbox: [
    {
      table: 'event_log.streams',
      sql: `select l.stream as key, 'revision ' || l.revision || ' is sealed, and the stream ends before it, or has another name' as detail
              from sealed_streams l left join event_log.streams s on s.name = l.stream
             where l.stream <> '${POLICY_STREAM}' and l.revision >= coalesce(s.next_revision, 0)`,
    },
    {
      // Such events are in no view: no other part would ever meet them.
      table: 'event_log.streams',
      detail: 'events belong to a stream of this number, and it has no row',
      sql: `${OWNERS} select o.stream::text as key from owners o
             where o.stream is not null and not exists (select from event_log.streams s where s.number = o.stream)`,
    },
    {
      table: 'event_log.streams',
      detail: 'no part of the service writes to this stream',
      sql: `select name as key from event_log.streams
             where site_id is null and name not in (${STREAMS_OF_NO_SITE.map(textLiteral).join(', ')})
               and name !~ ${textLiteral(SITE_STREAM.source)}`,
    },
    {
      kind: 'log-order',
      table: 'event_log.events',
      columns: ['stream', 'revision'],
      detail: 'the event is beyond the end of its stream, or of no stream',
      sql: `${OWNERS} select e.id::text as key from owners w left join event_log.streams s on s.number = w.stream
             cross join lateral (select o.id from event_log.events o
                                  where o.stream = w.stream and o.revision >= coalesce(s.next_revision, 0) limit 10) e`,
    },
    {
      kind: 'stopped-part',
      table: 'quarantined_sites',
      sql: `select site_id::text as key, 'the relay of this site stands still: ' || reason as detail from quarantined_sites`,
    },
  ],
  erasures: [
    {
      table: 'erased_records',
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
    {
      // A restore of an older database loses thousands of keys at once: each site is one finding.
      kind: 'record-without-key',
      table: 'record_keys',
      sql: `select c.site_id::text as key,
                   count(*) || case count(*) when 1 then ' record of this site has' else ' records of this site have' end ||
                   ' no key, and no erasure explains it; the oldest is ' || min(c.event_id::text) as detail
              from read_model.consents c
             where not exists (select from record_keys k where k.event_id = c.event_id)
               and not exists (select from erased_records e where e.event_id = c.event_id)
             group by c.site_id`,
    },
  ],
  exports: [
    {
      table: 'export_jobs',
      columns: ['site_id'],
      detail: 'the export is of another site',
      sql: 'select e.id::text as key from exports e join export_jobs j on j.export_id = e.id where j.site_id <> e.site_id',
    },
    {
      table: 'export_jobs',
      columns: ['bytes'],
      detail: 'its pieces have another number of bytes',
      sql: `select e.id::text as key from exports e join export_jobs j on j.export_id = e.id
             where e.state = 'finished' and e.seed is not null and j.deleted_at is null and j.bytes <> (
               select coalesce(sum(octet_length(c.ciphertext) - ${PIECE_OVERHEAD}), 0) from export_chunks c where c.export_id = e.id)`,
    },
  ],
};

const Rows = z.array(z.object({ key: z.string(), detail: z.string().optional() }));

/** Reports the rows of a section that contradict others. */
export async function reportContradictions({ db, findings, step }: Section, name: SectionName): Promise<void> {
  const contradictions = CONTRADICTIONS[name] ?? [];
  for (const [done, { kind = 'reference-differs', table, columns = [], detail, sql }] of contradictions.entries()) {
    const { rows } = await db.query(`${sql} limit ${MAX_FINDINGS}`);
    // An order in SQL would cost statements that find nothing a sort.
    const found = Rows.parse(rows).sort((a, b) => (a.key < b.key ? -1 : 1));
    for (const { key, detail: own = '' } of found) findings.add({ kind, table, key, columns, detail: detail ?? own });
    await step(done + 1, contradictions.length);
  }
}
