import * as z from 'zod';
import { consentsStream, noticesStream, POLICY_STREAM } from '../../../schemas/events/streams.js';
import type { RevisionRun } from '../../../schemas/evidence/batch-header.js';
import type { EventLog } from '../../pipeline/event-log/port.js';
import type { Queryable } from '../../platform/database/pool.js';
import { type IndexedPerson, type KeyRows, personRows } from '../../platform/keys/index.js';
import { isAbsenceSmaller } from './absence-size.js';
import { type ExportFilter, isWholePerson, isWholeSite, picksRecords, publicFilter } from './filter.js';
import { findRun } from './find-run.js';
import { lastRevisionBelow, revisionsOf } from './ledger-reader.js';
import { findPerson, type PersonScope } from './person-scope.js';

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
  /** Last revision of the consents stream as of the checkpoint; -1 if there is none. */
  readonly lastConsents: number;
  /** Runs of the notices stream, in order: one for the whole stream, unless the package is a receipt. */
  readonly notices: readonly RevisionRun[];
  /** All policies of the ledger as of the checkpoint; null if there are none. */
  readonly policies: RevisionRun | null;
  /**
   * Whether the package shows in its cover that the records which match are not erased. Otherwise it has
   * all events of the stream from the first of these records on.
   */
  readonly showsAbsence: boolean;
  /** Runs of which no event is missing. */
  readonly complete: readonly RevisionRun[];
  /** The person that the filter names; null: none. */
  readonly person: PersonScope | null;
}

const PAGE = 1_000;

/**
 * Determines the entries that a package encloses. A whole site gives its complete streams, and a
 * range gives the run that contains it. Selected records are enclosed alone, with the erasures that
 * name them. The site's notices and the ledger's policies are always enclosed.
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
