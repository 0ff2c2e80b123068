import * as z from 'zod';
import { equalBytes } from '../../schemas/crypto/encoding.js';
import { siteOfStream } from '../../schemas/events/streams.js';
import { NO_STREAM } from '../pipeline/event-log/port.js';
import { type StreamEnds, streamEnds } from '../pipeline/relay/log-check.js';
import { assertGenuine, KeyError, NotGenuine } from '../platform/keys/index.js';
import { damagedLog } from './finding.js';
import { PAGE, pagesOf, readPastGaps, type Section } from './section.js';

/**
 * Compares the events that wait for the log, and those that are kept for another log, with the streams and with the
 * log.
 */
export async function auditOutbox(section: Section): Promise<void> {
  await auditWaiting(section);
  await auditStreams(section);
  if (section.eventLog.kind === 'postgres') await auditRuns(section);
  else await auditKept(section);
}

const WaitingRows = z.array(
  z.object({
    place: z.string(),
    number: z.string(),
    site_id: z.string(),
    stream: z.string().nullable(),
    revision: z.int(),
    count: z.int(),
    /** Revision at which the next row of the stream begins, or the stream ends. */
    expected: z.int().nullable(),
    is_last: z.boolean(),
    has_bytes: z.boolean(),
    events: z.int(),
  }),
);
type WaitingRow = z.infer<typeof WaitingRows>[number];

/** The rows of a stream follow each other up to its end, and each has its events, which are genuine. */
async function auditWaiting(section: Section): Promise<void> {
  const { db, step } = section;
  const read = async (after: string | null) => {
    const [site, number] = after?.split(' ') ?? [null, null];
    const { rows } = await db.query(
      `select w.site_id || ' ' || w.number as place, w.number::text as number, w.site_id, s.name as stream, w.revision, w.count,
              coalesce((select n.revision from event_log.waiting n where n.site_id = w.site_id and n.stream = w.stream
                           and n.number > w.number order by n.number limit 1), s.next_revision) as expected,
              not exists (select from event_log.waiting n where n.site_id = w.site_id and n.stream = w.stream
                             and n.number > w.number) as is_last,
              e.bytes = w.bytes as has_bytes, e.events
         from event_log.waiting w left join event_log.streams s on s.number = w.stream
        cross join lateral (select coalesce(sum(octet_length(o.data)), 0) as bytes, count(*)::int as events from event_log.events o
           where o.stream = w.stream and o.revision between w.revision and w.revision + w.count - 1) e
        where $2::uuid is null or (w.site_id, w.number) > ($2::uuid, $3::bigint)
        order by w.site_id, w.number limit $1`,
      [PAGE, site, number],
    );
    return WaitingRows.parse(rows);
  };
  let done = 0;
  for await (const page of pagesOf(read, (row) => row.place)) {
    for (const row of page) {
      await checkPlace(section, row);
      await checkGenuine(section, row);
    }
    done += page.length;
    await step(done, null);
  }
}

async function checkPlace({ db, findings }: Section, row: WaitingRow): Promise<void> {
  const isWhole = row.events === row.count;
  const columns = [
    ...(row.stream !== null && siteOfStream(row.stream) === row.site_id ? [] : ['site_id', 'stream']),
    ...(row.revision + row.count === row.expected ? [] : ['number', 'revision', 'count']),
    ...(row.has_bytes ? [] : ['bytes']),
  ];
  if ((columns.length === 0 && isWhole) || !(await stillWaits(db, row))) return;
  const detail = isWhole ? `the events have another ${columns.join(', ')}` : 'an event of the row is missing';
  const finding = { kind: 'reference-differs', columns, detail } as const;
  findings.add({ ...finding, table: 'event_log.waiting', key: row.number });
  // Either of them may be wrong.
  if (row.is_last && row.stream !== null && columns.includes('revision'))
    findings.add({ ...finding, table: 'event_log.streams', key: row.stream, columns: ['next_revision'] });
}

/** The relay may have moved events to the log since the row was read. */
async function stillWaits(db: Section['db'], { site_id: siteId, number, revision }: WaitingRow): Promise<boolean> {
  const { rowCount } = await db.query(
    'select from event_log.waiting where site_id = $1 and number = $2 and revision = $3',
    [siteId, number, revision],
  );
  return rowCount === 1;
}

const EventRows = z.array(
  z.object({ revision: z.int(), id: z.string(), type: z.string(), data: z.instanceof(Uint8Array) }),
);

async function checkGenuine({ db, keyring, findings }: Section, row: WaitingRow): Promise<void> {
  const { stream } = row;
  if (stream === null) return;
  const { rows } = await db.query(
    'select revision, id, type, data from event_log.waiting_events where site_id = $1 and number = $2 order by revision',
    [row.site_id, row.number],
  );
  for (const { id, type, data } of EventRows.parse(rows)) {
    try {
      await assertGenuine({ id, type, data, stream }, keyring);
    } catch (error) {
      // If the key itself was altered, it is reported with the keys.
      if (!(error instanceof NotGenuine || error instanceof KeyError)) throw error;
      findings.add({ kind: 'event-altered', table: 'event_log.events', key: id, detail: error.message });
    }
  }
}

const StreamRows = z.array(z.object({ stream: z.string(), revision: z.int() }));

/** The ends of the streams of sites. The streams of the ledger have no rows in the outbox. */
async function* siteStreams({ db, eventLog, step }: Section): AsyncGenerator<StreamEnds> {
  let done = 0;
  for await (const ends of streamEnds(db, eventLog)) {
    if (siteOfStream(ends.stream) !== null) yield ends;
    done += 1;
    if (done % PAGE === 0) await step(done, null);
  }
}

/** The end of a stream in the log, and what waits after it, is the end of the stream. */
async function auditStreams(section: Section): Promise<void> {
  const { db, eventLog, findings } = section;
  const logged = async (stream: string): Promise<number | null> => {
    const { rows } = await db.query('select stream, revision from event_log.logged_streams where stream = $1', [
      stream,
    ]);
    return StreamRows.parse(rows)[0]?.revision ?? null;
  };
  for await (const { stream, known, actual } of siteStreams(section)) {
    if (actual === known) continue;
    // The relay may work on the stream. Only what stays different is wrong.
    const before = await logged(stream);
    const newest = await eventLog.lastRevision(stream);
    if (before === newest || (await logged(stream)) !== before) continue;
    findings.add({
      kind: 'reference-differs',
      table: 'event_log.streams',
      key: stream,
      columns: newest === NO_STREAM ? [] : ['next_revision'],
      detail: `the log ends at revision ${newest}, and by the table it has revision ${before}`,
    });
  }
}

const RunRows = z.array(
  z.object({
    position: z.int(),
    count: z.int(),
    next_revision: z.int(),
    /** Revision at which the next run of the stream or its waiting events begin, or at which the stream ends. */
    expected: z.int().nullable(),
  }),
);

/** The runs of the postgres log follow each other without gaps, in the log and in each stream. */
async function auditRuns({ db, findings, step }: Section): Promise<void> {
  const read = async (after: string | null) => {
    const { rows } = await db.query(
      `select r.position, r.count, r.revision + r.count as next_revision,
              coalesce((select n.revision from event_log.runs n where n.stream = r.stream and n.revision > r.revision
                         order by n.revision limit 1),
                       (select w.revision from event_log.waiting w where w.site_id = s.site_id and w.stream = r.stream
                         order by w.number limit 1), s.next_revision) as expected
         from event_log.runs r left join event_log.streams s on s.number = r.stream
        where r.position > $2 order by r.position limit $1`,
      [PAGE, after ?? '0'],
    );
    return RunRows.parse(rows);
  };
  let done = 0;
  let position = 1;
  for await (const page of pagesOf(read, (row) => String(row.position))) {
    for (const row of page) {
      const columns = [
        ...(row.position === position ? [] : ['position']),
        ...(row.next_revision === row.expected ? [] : ['stream', 'revision', 'count']),
      ];
      position = row.position + row.count;
      if (columns.length === 0) continue;
      const detail = `another ${columns.join(', ')} would follow the run before it, or be followed by the next one`;
      findings.add({ kind: 'log-order', table: 'event_log.runs', key: String(row.position), columns, detail });
    }
    done += page.length;
    await step(done, null);
  }
}

/** The events that are kept of another log are those that the log has. */
async function auditKept(section: Section): Promise<void> {
  const { db, step } = section;
  let done = 0;
  for await (const { stream, known } of siteStreams(section)) {
    const read = async (after: string | null) => {
      const { rows } = await db.query(
        `select revision, id, type, data from event_log.stored_events
          where stream = $2 and revision > $3 and revision <= $4 order by revision limit $1`,
        [PAGE, stream, after ?? String(NO_STREAM), known],
      );
      return EventRows.parse(rows);
    };
    for await (const page of pagesOf(read, ({ revision }) => String(revision))) {
      for (const run of runsOf(page)) await compareRun(section, stream, run);
      done += page.length;
      await step(done, null);
    }
  }
}

type StoredEvent = z.infer<typeof EventRows>[number];

/** A restored database lacks events between those that it keeps, so each run of them is compared separately. */
function runsOf(page: readonly StoredEvent[]): readonly (readonly StoredEvent[])[] {
  const runs: StoredEvent[][] = [];
  for (const event of page) {
    const run = runs.at(-1);
    if (run?.at(-1)?.revision === event.revision - 1) run.push(event);
    else runs.push([event]);
  }
  return runs;
}

async function compareRun({ eventLog, findings }: Section, stream: string, run: readonly StoredEvent[]): Promise<void> {
  const events = await readPastGaps(eventLog, stream, run[0]?.revision ?? 0, run.length, (gap) =>
    findings.add(damagedLog(gap, gap.message)),
  );
  const found = new Map(events.map((event) => [event.revision, event]));
  for (const { revision, id: key, type, data } of run) {
    const event = found.get(revision);
    const columns = [
      ...(event?.id === key ? [] : ['id']),
      ...(event?.type === type ? [] : ['type']),
      ...(event !== undefined && equalBytes(event.data, data) ? [] : ['data']),
    ];
    if (columns.length === 0) continue;
    const detail = `the log has another event at revision ${revision} of ${stream}`;
    findings.add({ kind: 'reference-differs', table: 'event_log.events', key, columns, detail });
  }
}
