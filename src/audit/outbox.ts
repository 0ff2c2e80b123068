import { z } from 'zod';
import { toHex } from '../../schemas/crypto/encoding.js';
import { siteOfStream } from '../../schemas/events/streams.js';
import type { StreamEvent } from '../pipeline/event-log/port.js';
import { assertGenuine, KeyError, NotGenuine } from '../platform/keys/index.js';
import { damagedLog } from './finding.js';
import { estimatedRows, PAGE, pagesOf } from './pages.js';
import { readPastGaps } from './read-past-gaps.js';
import type { Section } from './section.js';

const Rows = z.array(
  z.object({
    seq: z.string(),
    site_id: z.string(),
    stream: z.string(),
    event_id: z.string(),
    type: z.string(),
    body: z.instanceof(Uint8Array),
    /** Null: the table of relayed rows does not have it. */
    revision: z.number().nullable(),
    is_waiting: z.boolean(),
    sealed_before: z.date().nullable(),
    is_sealed: z.boolean(),
  }),
);
const NewestRows = z.tuple([z.object({ newest: z.string().nullable() })]);
type Row = z.infer<typeof Rows>[number];

/** Compares relayed rows with the log, and checks waiting rows and the position of the relay. */
export async function auditOutbox(section: Section): Promise<void> {
  const { db, step } = section;
  const total = await estimatedRows(db, 'outbox');
  // Rows that are admitted meanwhile are in flight: a busy service would have no end.
  const [{ newest }] = NewestRows.parse((await db.query('select max(seq)::text as newest from outbox')).rows);
  const lastRevisions = new Map<string, { readonly revision: number | null; readonly seq: string }>();
  let done = 0;
  const read = async (after: string | null) => {
    const { rows } = await db.query(
      `select o.seq::text as seq, o.site_id, o.stream, event_id, type, body, r.revision, w.seq is not null as is_waiting,
              sealed_before, r.revision is not null and r.revision <= coalesce(s.revision, -1) as is_sealed
         from outbox o left join outbox_relayed r on r.seq = o.seq
         left join sealed_streams s on s.stream = o.stream
         left join outbox_waiting w on w.site_id = o.site_id and w.seq = o.seq
        where o.seq > $2 and o.seq <= $3 order by o.seq limit $1`,
      [PAGE, after ?? '-1', newest],
    );
    return Rows.parse(rows);
  };
  for await (const page of pagesOf(read, (row) => row.seq)) {
    const events = await eventsOf(section, page);
    for (const row of page) {
      checkPromise(section, row);
      await checkRow(section, row, events.get(`${row.stream} ${row.revision}`));
      await checkOrder(section, row, lastRevisions);
    }
    done += page.length;
    await step(done, total === null ? null : Math.max(total, done));
  }
  await auditWaiting(section);
  await auditRelayed(section);
  await auditStreams(section);
  await auditQuarantine(section);
}

/** Reads the events of relayed rows, by stream and revision: one run of revisions in one read. */
async function eventsOf(
  { eventLog, findings }: Section,
  page: readonly Row[],
): Promise<ReadonlyMap<string, StreamEvent>> {
  const wanted = new Map<string, number[]>();
  for (const { stream, revision } of page)
    if (revision !== null && siteOfStream(stream) !== null)
      wanted.set(stream, [...(wanted.get(stream) ?? []), revision]);
  const events = new Map<string, StreamEvent>();
  for (const [stream, revisions] of wanted) {
    let from = 0;
    for (const revision of revisions.sort((a, b) => a - b)) {
      if (revision < from || events.has(`${stream} ${revision}`)) continue;
      const found = await readPastGaps(eventLog, stream, revision, revisions.length, (gap) =>
        findings.add(damagedLog(gap, gap.message)),
      );
      from = found[0]?.revision ?? from;
      for (const event of found) events.set(`${stream} ${event.revision}`, event);
    }
  }
  return events;
}

/** A consent that waits longer than its own promise says is a broken promise, wherever it waits. */
function checkPromise({ findings, now }: Section, { event_id: key, sealed_before: promised, is_sealed }: Row): void {
  if (is_sealed || promised === null || promised >= now()) return;
  const seconds = Math.round((now().getTime() - promised.getTime()) / 1000);
  const detail = `a batch before ${promised.toISOString()} was promised, and it still waits, ${seconds} seconds later`;
  findings.add({ kind: 'promise-broken', table: 'outbox', key, detail });
}

async function checkRow(section: Section, row: Row, event: StreamEvent | undefined): Promise<void> {
  const { db, keyring, findings } = section;
  const { seq: key, stream, event_id: id, type, body, revision } = row;
  const table = 'outbox';
  if (siteOfStream(stream) !== row.site_id)
    findings.add({
      kind: 'reference-differs',
      table,
      key,
      columns: ['site_id', 'stream'],
      detail: 'the stream is of another site',
    });
  if (row.is_waiting === (revision !== null))
    findings.add({
      kind: 'reference-differs',
      table: row.is_waiting ? 'outbox_waiting' : table,
      key,
      detail: row.is_waiting ? 'the row waits, and it is recorded as relayed' : 'the row neither waits nor is relayed',
    });
  if (revision === null) {
    try {
      await assertGenuine({ id, type, data: body, stream }, keyring);
    } catch (error) {
      // A key that was altered itself is reported with the keys.
      if (!(error instanceof NotGenuine || error instanceof KeyError)) throw error;
      findings.add({ kind: 'event-altered', table, key, detail: error.message });
    }
    // The relay marks rows together with its revision, perhaps after the sealer saw their events.
    const { rowCount } = await db.query(
      `select from outbox_waiting w join outbox o on o.seq = w.seq join leaves l on l.event_id = o.event_id
         join relayed_streams r on r.stream = l.stream
        where w.site_id = $1 and w.seq = $2 and l.revision <= r.revision`,
      [row.site_id, key],
    );
    if (rowCount !== 0)
      findings.add({
        kind: 'reference-differs',
        table: 'outbox_waiting',
        key,
        detail: 'the row waits, and its event is sealed',
      });
    return;
  }
  const columns = [
    ...(event?.id === id ? [] : ['event_id']),
    ...(event?.type === type ? [] : ['type']),
    ...(event !== undefined && toHex(event.data) === toHex(body) ? [] : ['body']),
  ];
  if (columns.length === 0) return;
  const detail = `the log has another event at revision ${revision} of ${stream}`;
  const isElsewhere = columns.length === 3;
  findings.add({ kind: 'reference-differs', table, key, columns: isElsewhere ? ['stream'] : columns, detail });
  if (isElsewhere)
    findings.add({ kind: 'reference-differs', table: 'outbox_relayed', key, columns: ['revision'], detail });
}

async function isStillWaiting(db: Section['db'], siteId: string, seq: string): Promise<boolean> {
  const { rowCount } = await db.query('select from outbox_waiting where site_id = $1 and seq = $2', [siteId, seq]);
  return rowCount === 1;
}

/** The relay takes the rows of a stream in their order. */
async function checkOrder(
  { db, findings }: Section,
  { site_id: siteId, stream, revision, seq }: Row,
  last: Map<string, { readonly revision: number | null; readonly seq: string }>,
): Promise<void> {
  const before = last.get(stream);
  last.set(stream, { revision, seq });
  if (before === undefined || revision === null) return;
  // Since an earlier page was read, its rows may have been relayed.
  const isBehind =
    before.revision === null ? !(await isStillWaiting(db, siteId, before.seq)) : revision > before.revision;
  if (isBehind) return;
  findings.add({
    kind: 'reference-differs',
    table: 'outbox',
    key: seq,
    columns: ['seq'],
    detail: `revision ${revision} of ${stream} follows ${before.revision ?? 'a waiting row'} in the outbox (row ${before.seq})`,
  });
}

const WaitingRows = z.array(
  z.object({
    place: z.string(),
    seq: z.string(),
    has_event: z.boolean(),
    is_of_site: z.boolean().nullable(),
    has_size: z.boolean().nullable(),
  }),
);

/** Compares the rows that say that an event waits with the events. */
async function auditWaiting({ db, findings, step }: Section): Promise<void> {
  const read = async (after: string | null) => {
    const [site, seq] = after?.split(' ') ?? [null, null];
    const { rows } = await db.query(
      `select w.site_id || ' ' || w.seq as place, w.seq::text as seq, o.seq is not null as has_event,
              o.site_id = w.site_id as is_of_site, octet_length(o.body) = w.size as has_size
         from outbox_waiting w left join outbox o on o.seq = w.seq
        where $2::uuid is null or (w.site_id, w.seq) > ($2::uuid, $3::bigint)
        order by w.site_id, w.seq limit $1`,
      [PAGE, site, seq],
    );
    return WaitingRows.parse(rows);
  };
  let done = 0;
  for await (const page of pagesOf(read, (row) => row.place)) {
    for (const { seq: key, has_event: hasEvent, is_of_site: isOfSite, has_size: hasSize } of page) {
      const columns = hasEvent ? [...(isOfSite ? [] : ['site_id']), ...(hasSize ? [] : ['size'])] : [];
      if (hasEvent && columns.length === 0) continue;
      const detail = hasEvent ? `the event has another ${columns.join(' and ')}` : 'the outbox does not have the event';
      findings.add({ kind: 'reference-differs', table: 'outbox_waiting', key, columns, detail });
    }
    done += page.length;
    await step(done, null);
  }
}

const RelayedRows = z.array(z.object({ seq: z.string(), has_event: z.boolean() }));

/** Rows that say that an event is relayed are deleted together with it. */
async function auditRelayed({ db, findings, step }: Section): Promise<void> {
  const read = async (after: string | null) => {
    const { rows } = await db.query(
      `select r.seq::text as seq, o.seq is not null as has_event
         from outbox_relayed r left join outbox o on o.seq = r.seq where r.seq > $2 order by r.seq limit $1`,
      [PAGE, after ?? '-1'],
    );
    return RelayedRows.parse(rows);
  };
  let done = 0;
  for await (const page of pagesOf(read, (row) => row.seq)) {
    for (const { seq: key, has_event: hasEvent } of page) {
      if (hasEvent) continue;
      const detail = 'the outbox does not have the event';
      findings.add({ kind: 'reference-differs', table: 'outbox_relayed', key, detail });
    }
    done += page.length;
    await step(done, null);
  }
}

const StreamRows = z.array(z.object({ stream: z.string(), revision: z.number() }));

async function auditStreams({ db, eventLog, findings, step }: Section): Promise<void> {
  const read = async (after: string | null) => {
    const { rows } = await db.query(
      'select stream, revision from relayed_streams where $2::text is null or stream > $2 order by stream limit $1',
      [PAGE, after],
    );
    return StreamRows.parse(rows);
  };
  let done = 0;
  for await (const page of pagesOf(read, (row) => row.stream)) {
    const inLog = await eventLog.lastRevisions(page.map((row) => row.stream));
    for (const { stream, revision } of page) {
      if (inLog.get(stream) === revision) continue;
      // The relay marks rows right after their append.
      const [now] = StreamRows.parse(
        (await db.query('select stream, revision from relayed_streams where stream = $1', [stream])).rows,
      );
      const newest = await eventLog.lastRevision(stream);
      if (now === undefined || now.revision === newest) continue;
      const { rowCount } = await db.query(
        `select from outbox_waiting w join outbox o on o.seq = w.seq
          where w.site_id = $1 and o.stream = $2 limit 1`,
        [siteOfStream(stream), stream],
      );
      if (now.revision < newest && rowCount === 1) continue;
      // Between these statements the relay may have marked what it had appended.
      const after = await db.query('select stream, revision from relayed_streams where stream = $1', [stream]);
      if (StreamRows.parse(after.rows)[0]?.revision !== now.revision) continue;
      findings.add({
        kind: 'reference-differs',
        table: 'relayed_streams',
        key: stream,
        columns: ['revision'],
        detail: `the table is at revision ${now.revision}, and the log ends at ${newest}`,
      });
    }
    done += page.length;
    await step(done, null);
  }
  const { rows } = await db.query(
    `select distinct l.stream, 0 as revision from sealed_streams l
      where l.stream <> 'policy' and not exists (select from relayed_streams r where r.stream = l.stream) limit ${PAGE}`,
  );
  for (const { stream } of StreamRows.parse(rows))
    findings.add({
      kind: 'reference-differs',
      table: 'relayed_streams',
      key: stream,
      detail: 'the log has this stream, and the relay does not know it',
    });
}

const SiteRows = z.array(z.object({ site_id: z.string(), reason: z.string() }));

async function auditQuarantine({ db, findings }: Section): Promise<void> {
  const { rows } = await db.query('select site_id, reason from quarantined_sites');
  for (const { site_id: key, reason } of SiteRows.parse(rows))
    findings.add({
      kind: 'stopped-part',
      table: 'quarantined_sites',
      key,
      detail: `the relay of this site stands still: ${reason}`,
    });
}
