import * as z from 'zod';
import type { SealedConsent } from '../../../schemas/events/consent-imported.js';
import { isConsentType, parseConsent } from '../../../schemas/events/sealed-event.js';
import { consentsStream, noticesStream, POLICY_STREAM } from '../../../schemas/events/streams.js';
import type { RevisionRun } from '../../../schemas/evidence/batch-header.js';
import { PROOF_LIMITS } from '../../../schemas/evidence/proof-limits.js';
import { PERIODS } from '../../../schemas/evidence/roll-ups.js';
import type { EventLog } from '../../pipeline/event-log/port.js';
import type { Queryable } from '../../platform/database/pool.js';
import { firstEventIdAt } from '../../platform/event-ids.js';
import { type IndexedPerson, type KeyRows, personRows } from '../../platform/keys/index.js';
import { readEntries, type SealedEntry } from './entry-reader.js';
import { ExportFailed } from './errors.js';
import { type ExportFilter, isWholePerson, isWholeSite, picksRecords, publicFilter } from './filter.js';
import { batchOf, lastRevisionBelow, revisionsOf } from './ledger-reader.js';
import { findPerson, type PersonScope } from './person-scope.js';
import { isAbsenceSmaller } from './tags-files.js';

/** The person that a filter names. */
export interface Visitor {
  /** Blind index of the visitor id. */
  readonly index: Uint8Array;
  /** Key of the site, 32 bytes. */
  readonly siteKey: Uint8Array;
}

/** The entries that a package encloses. */
export interface Scope {
  /** Runs of the consents stream, in order. */
  readonly consents: readonly RevisionRun[];
  /**
   * True leaves out consents that do not match. False encloses them without values, so that the run
   * is complete.
   */
  readonly leavesOut: boolean;
  /** Last revision of the consents stream as of the checkpoint, or -1 if there is none. */
  readonly lastConsents: number;
  /** Runs of the notices stream, in order: one for the whole stream, unless the package is a receipt. */
  readonly notices: readonly RevisionRun[];
  /** All policies of the ledger as of the checkpoint, or null if there are none. */
  readonly policies: RevisionRun | null;
  /**
   * Whether the package's cover shows that the matching records are not erased. Otherwise the package has all events of
   * the stream from the first of these records on.
   */
  readonly showsAbsence: boolean;
  /** Runs with no event missing. */
  readonly complete: readonly RevisionRun[];
  /** The person that the filter names, or null if there is none. */
  readonly person: PersonScope | null;
}

const PAGE = 1_000;

/**
 * Determines the entries that a package encloses. For a whole site, these are its complete streams; for a range, the
 * run that contains it. Selected records are enclosed on their own, with the erasures that name them. The site's
 * notices and the ledger's policies are always enclosed.
 * @param visitor the person that the filter names
 * @param size size of the checkpoint: only batches below it count
 */
export async function findScope(
  db: Queryable,
  eventLog: EventLog,
  keyRows: KeyRows,
  siteId: string,
  filter: ExportFilter,
  visitor: Visitor | null,
  size: number,
): Promise<Scope> {
  const stream = consentsStream(siteId);
  const lastConsents = await lastRevisionBelow(db, stream, size);
  const lastNotices = await lastRevisionBelow(db, noticesStream(siteId), size);
  const notices = lastNotices < 0 ? null : { stream: noticesStream(siteId), first: 0, last: lastNotices };
  const lastPolicies = await lastRevisionBelow(db, POLICY_STREAM, size);
  const policies = lastPolicies < 0 ? null : { stream: POLICY_STREAM, first: 0, last: lastPolicies };
  const rest = { lastConsents, notices: notices === null ? [] : [notices], policies, person: null };
  const always = [notices, policies].filter((run) => run !== null);
  if (picksRecords(filter)) {
    const revisions = await pickedRevisions(db, keyRows, siteId, filter, visitor, size);
    const person = visitor === null ? null : await findPerson(db, siteId, visitor.siteKey, visitor.index, size);
    const isWhole = isWholePerson(filter);
    if (person !== null && isWhole) for (const revision of person.revisions) revisions.add(revision);
    return {
      ...rest,
      consents: runsOfRevisions(stream, revisions),
      leavesOut: true,
      showsAbsence: true,
      complete: always,
      person: person === null || isWhole ? person : { ...person, records: null },
    };
  }
  const whole = lastConsents < 0 ? null : { stream, first: 0, last: lastConsents };
  const run =
    whole === null || isWholeSite(filter) ? whole : await findRun(db, eventLog, whole, filter, publicFilter(filter));
  if (run === null) return { ...rest, consents: [], leavesOut: false, showsAbsence: false, complete: always };
  const showsAbsence = run.last < lastConsents && (await isAbsenceSmaller(db, run, lastConsents, size));
  const consents = [showsAbsence ? run : { ...run, last: lastConsents }];
  return { ...rest, consents, leavesOut: false, showsAbsence, complete: [...consents, ...always] };
}

/** Finds the revisions of the selected records and of the erasures that name them. */
async function pickedRevisions(
  db: Queryable,
  keyRows: KeyRows,
  siteId: string,
  filter: ExportFilter,
  visitor: Visitor | null,
  size: number,
): Promise<Set<number>> {
  const stream = consentsStream(siteId);
  const revisions = new Set<number>();
  const add = async (eventIds: readonly string[]): Promise<void> => {
    for (const revision of (await revisionsOf(db, stream, eventIds, size)).values()) revisions.add(revision);
  };
  if (visitor === null) {
    const eventIds = filter.eventIds ?? [];
    for (let i = 0; i < eventIds.length; i += PAGE) {
      const page = eventIds.slice(i, i + PAGE);
      await add(page);
      await add(await erasuresOf(db, page));
    }
    return revisions;
  }
  const chosen = filter.eventIds === undefined ? null : new Set(filter.eventIds);
  const person: IndexedPerson = { siteId, kind: 'visitor', index: visitor.index };
  for await (const page of personRows(db, person, PAGE)) {
    const own = (await keyRows.openKeyRows(page)).map(({ eventId }) => eventId);
    await add(chosen === null ? own : own.filter((eventId) => chosen.has(eventId)));
  }
  return revisions;
}

const eventRows = z.array(z.object({ event_id: z.string() }));

async function erasuresOf(db: Queryable, eventIds: readonly string[]): Promise<readonly string[]> {
  const { rows } = await db.query(
    'select distinct erasure_event_id as event_id from erased_records where event_id = any($1::uuid[]) and erasure_event_id is not null',
    [eventIds],
  );
  return eventRows.parse(rows).map((row) => row.event_id);
}

/** Groups revisions into sorted runs. */
export function runsOfRevisions(stream: string, revisions: ReadonlySet<number>): readonly RevisionRun[] {
  const runs: RevisionRun[] = [];
  for (const revision of [...revisions].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && last.last === revision - 1) runs[runs.length - 1] = { ...last, last: revision };
    else runs.push({ stream, first: revision, last: revision });
  }
  return runs;
}

/** Number of revisions that one statement examines. */
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
async function findRun(
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

/** Minimum number of bytes of the line of a shown tag in `tags/<number>.ndjson`. */
const LINE_BYTES = 85;
/** The most tags of a package that fit into the file of a roll-up, whatever else is in its tree. */
const MOST_TAGS = Math.floor(PROOF_LIMITS.fileBytes / LINE_BYTES);
/** Merkle batches per large roll-up. Smaller roll-ups cannot have that many leaves. */
const PERIOD = PERIODS[2];

/**
 * Refuses runs whose tags cannot possibly fit into the file of a roll-up, to save hours of work. For other runs this
 * turns out when the file is written, because its size depends on the tags of other sites.
 * @param runs the runs of consents that a package encloses
 * @param size size of the checkpoint
 * @throws ExportFailed `too-large`
 */
export async function refuseTooManyTags(
  db: Queryable,
  runs: readonly RevisionRun[],
  size: number,
  limits: { readonly mostTags: number; readonly period: number } = { mostTags: MOST_TAGS, period: PERIOD },
): Promise<void> {
  const { mostTags, period } = limits;
  for (const run of runs) {
    if (run.last - run.first < mostTags) continue;
    const first = await batchOf(db, run.stream, run.first);
    let start = run.first;
    for (let end = first - (first % period) + period; end <= size && start <= run.last; end += period) {
      const next = await firstRevisionFrom(db, run, start, end);
      if (next - start > mostTags)
        throw new ExportFailed(
          'too-large',
          `${next - start} of the records are in ${period} batches that follow each other, and a package holds ${mostTags} of so many batches at most. Choose a shorter time range.`,
        );
      start = next;
    }
  }
}

/** The first revision of a run, from a revision on, whose batch is not below `batch`. Batches ascend with revisions. */
async function firstRevisionFrom(db: Queryable, run: RevisionRun, from: number, batch: number): Promise<number> {
  let low = from;
  let high = run.last + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await batchOf(db, run.stream, middle)) < batch) low = middle + 1;
    else high = middle;
  }
  return low;
}
