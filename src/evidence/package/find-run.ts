import * as z from 'zod';
import type { SealedConsent } from '../../../schemas/events/consent-imported.js';
import { isConsentType, parseConsent } from '../../../schemas/events/sealed-event.js';
import type { RevisionRun } from '../../../schemas/evidence/batch-header.js';
import { firstEventIdAt } from '../../erasure/event-id-times.js';
import type { EventLog } from '../../pipeline/event-log/port.js';
import type { Queryable } from '../../platform/database/pool.js';
import { readEntries, type SealedEntry } from './entry-reader.js';
import type { ExportFilter } from './filter.js';

/** Revisions that one statement examines. */
const WINDOW = 50_000;
/** Largest difference between an event id's time and the record's, in milliseconds. */
const SLACK_MS = 60_000;
const TRIM_PAGE = 500;

const revisionRows = z.array(z.object({ revision: z.int() })).max(1);

/**
 * Finds the shortest run of a stream that contains every consent that matches.
 * @param whole the run to search
 * @param matches the filter on a record's public part
 * @returns null if no consent matches
 */
export async function findRun(
  db: Queryable,
  eventLog: EventLog,
  whole: RevisionRun,
  filter: ExportFilter,
  matches: (record: SealedConsent) => boolean,
): Promise<RevisionRun | null> {
  const near = await nearRun(db, whole, filter);
  if (near === null) return null;
  const first = await firstMatch(db, eventLog, near, matches);
  if (first === null) return null;
  const last = await lastMatch(db, eventLog, { ...near, first }, matches);
  return last === null ? null : { stream: whole.stream, first, last };
}

/**
 * Narrows the run by the times in event ids. These are in the ledger's tables, so that no body is
 * read.
 */
async function nearRun(db: Queryable, whole: RevisionRun, { from, to }: ExportFilter): Promise<RevisionRun | null> {
  const above = from === undefined ? null : firstEventIdAt(new Date(Math.max(0, Date.parse(from) - SLACK_MS)));
  const below = to === undefined ? null : firstEventIdAt(new Date(Math.max(0, Date.parse(to) + SLACK_MS)));
  let { first, last } = whole;
  if (above !== null) {
    const found = await scan(db, whole, 'event_id >= $4', above, 'asc');
    if (found === null) return null;
    first = found;
  }
  if (below !== null) {
    const found = await scan(db, { ...whole, first }, 'event_id < $4', below, 'desc');
    if (found === null) return null;
    last = found;
  }
  return { stream: whole.stream, first, last };
}

async function scan(
  db: Queryable,
  { stream, first, last }: RevisionRun,
  condition: 'event_id >= $4' | 'event_id < $4',
  eventId: string,
  order: 'asc' | 'desc',
): Promise<number | null> {
  for (let done = 0; done <= last - first; done += WINDOW) {
    const low = order === 'asc' ? first + done : Math.max(first, last - done - WINDOW + 1);
    const high = order === 'asc' ? Math.min(last, first + done + WINDOW - 1) : last - done;
    const { rows } = await db.query(
      `select e.revision from sealed_streams s cross join lateral (
         select e.revision from sealed_events e
          where e.stream = s.number and e.revision between $2 and $3 and e.${condition}
          order by e.stream ${order}, e.revision ${order} limit 1) e
        where s.stream = $1`,
      [stream, low, high, eventId],
    );
    const [row] = revisionRows.parse(rows);
    if (row !== undefined) return row.revision;
  }
  return null;
}

async function firstMatch(
  db: Queryable,
  eventLog: EventLog,
  run: RevisionRun,
  matches: (record: SealedConsent) => boolean,
): Promise<number | null> {
  for await (const page of readEntries(db, eventLog, run)) {
    const found = page.find((entry) => isMatch(entry, matches));
    if (found !== undefined) return found.event.revision;
  }
  return null;
}

async function lastMatch(
  db: Queryable,
  eventLog: EventLog,
  { stream, first, last }: RevisionRun,
  matches: (record: SealedConsent) => boolean,
): Promise<number | null> {
  for (let high = last; high >= first; high -= TRIM_PAGE) {
    let found: number | null = null;
    for await (const page of readEntries(db, eventLog, {
      stream,
      first: Math.max(first, high - TRIM_PAGE + 1),
      last: high,
    })) {
      found = page.findLast((entry) => isMatch(entry, matches))?.event.revision ?? found;
    }
    if (found !== null) return found;
  }
  return null;
}

function isMatch({ event, recordText, consent }: SealedEntry, matches: (record: SealedConsent) => boolean): boolean {
  return isConsentType(event.type) && matches(consent?.record ?? parseConsent(event.type, recordText));
}
