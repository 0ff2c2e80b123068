import { z } from 'zod';
import { toHex } from '../../schemas/crypto/encoding.js';
import { siteOfStream } from '../../schemas/events/streams.js';
import type { StreamEvent } from '../pipeline/event-log/port.js';
import { assertGenuine, KeyError, NotGenuine } from '../platform/keys/index.js';
import { estimatedRows, PAGE, pagesOf } from './pages.js';
import type { Section } from './section.js';

const Rows = z.array(
  z.object({
    seq: z.string(),
    site_id: z.string(),
    stream: z.string(),
    event_id: z.string(),
    type: z.string(),
    body: z.instanceof(Uint8Array),
    revision: z.number().nullable(),
  }),
);
const NewestRows = z.tuple([z.object({ newest: z.string().nullable() })]);
type Row = z.infer<typeof Rows>[number];

/** Compares relayed rows with the log, checks waiting ones, and where the relay stands. */
export async function auditOutbox(section: Section): Promise<void> {
  const { db, step } = section;
  const total = await estimatedRows(db, 'outbox');
  // Rows that are admitted meanwhile are in flight: a busy service would have no end.
  const [{ newest }] = NewestRows.parse((await db.query('select max(seq)::text as newest from outbox')).rows);
  const lastRevisions = new Map<string, { readonly revision: number | null; readonly seq: string }>();
  let done = 0;
  const read = async (after: string | null) => {
    const { rows } = await db.query(
      `select o.seq::text as seq, site_id, stream, event_id, type, body, revision from outbox o
        where o.seq > $2 and o.seq <= $3 order by o.seq limit $1`,
      [PAGE, after ?? '-1', newest],
    );
    return Rows.parse(rows);
  };
  for await (const page of pagesOf(read, (row) => row.seq)) {
    const events = await eventsOf(section, page);
    for (const row of page) {
      await checkRow(section, row, events.get(`${row.stream} ${row.revision}`));
      await checkOrder(section, row, lastRevisions);
    }
    done += page.length;
    await step(done, total === null ? null : Math.max(total, done));
  }
  await auditStreams(section);
  await auditQuarantine(section);
}

/** Reads the events of relayed rows, by stream and revision: one run of revisions in one read. */
async function eventsOf({ eventLog }: Section, page: readonly Row[]): Promise<ReadonlyMap<string, StreamEvent>> {
  const wanted = new Map<string, number[]>();
  for (const { stream, revision } of page)
    if (revision !== null && siteOfStream(stream) !== null)
      wanted.set(stream, [...(wanted.get(stream) ?? []), revision]);
  const events = new Map<string, StreamEvent>();
  for (const [stream, revisions] of wanted) {
    for (const revision of revisions.sort((a, b) => a - b)) {
      if (revision < 0 || events.has(`${stream} ${revision}`)) continue;
      for (const event of await eventLog.readStream(stream, revision, revisions.length))
        events.set(`${stream} ${event.revision}`, event);
    }
  }
  return events;
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
      `select from outbox o join leaves l on l.event_id = o.event_id join relayed_streams r on r.stream = l.stream
        where o.seq = $1 and o.revision is null and l.revision <= r.revision`,
      [key],
    );
    if (rowCount !== 0)
      findings.add({
        kind: 'reference-differs',
        table,
        key,
        columns: ['revision'],
        detail: 'the row waits, and its event is sealed',
      });
    return;
  }
  const columns = [
    ...(event?.id === id ? [] : ['event_id']),
    ...(event?.type === type ? [] : ['type']),
    ...(event !== undefined && toHex(event.data) === toHex(body) ? [] : ['body']),
  ];
  if (event?.revision === revision && columns.length === 0) return;
  findings.add({
    kind: 'reference-differs',
    table,
    key,
    columns: columns.length === 3 ? ['stream', 'revision'] : columns,
    detail: `the log has another event at revision ${revision} of ${stream}`,
  });
}

async function isStillWaiting(db: Section['db'], seq: string): Promise<boolean> {
  const { rowCount } = await db.query('select from outbox where seq = $1 and revision is null', [seq]);
  return rowCount === 1;
}

/** The relay takes the rows of a stream in their order. */
async function checkOrder(
  { db, findings }: Section,
  { stream, revision, seq }: Row,
  last: Map<string, { readonly revision: number | null; readonly seq: string }>,
): Promise<void> {
  const before = last.get(stream);
  last.set(stream, { revision, seq });
  if (before === undefined || revision === null) return;
  // Since an earlier page was read, its rows may have been relayed.
  const isBehind = before.revision === null ? !(await isStillWaiting(db, before.seq)) : revision > before.revision;
  if (isBehind) return;
  findings.add({
    kind: 'reference-differs',
    table: 'outbox',
    key: seq,
    columns: ['seq', 'revision'],
    detail: `revision ${revision} of ${stream} follows ${before.revision ?? 'a waiting row'} in the outbox (row ${before.seq})`,
  });
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
      const { rowCount } = await db.query('select from outbox where stream = $1 and revision is null limit 1', [
        stream,
      ]);
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
