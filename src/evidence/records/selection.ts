import * as z from 'zod';
import type { ExportQuery } from '../../../schemas/api/export.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import { blindIndex, type IndexedPerson, type KeyRows, personRowsSql } from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { recordsOfPerson } from '../package/personal-data.js';

/** Callers return cursors unchanged. The version allows the content to change. */
const VERSION = 'v1';

/**
 * Returns the cursor that continues after a revision of the site's stream. It grants no access: every query is limited
 * to the caller's site.
 */
export function cursorBehind(revision: number): string {
  return Buffer.from(`${VERSION}:${revision}`).toString('base64url');
}

/**
 * Parses a cursor.
 * @returns the revision after which the list continues
 * @throws RequestRefused VALIDATION_ERROR
 */
export function revisionOfCursor(cursor: string): number {
  const [, digits] = /^v1:(0|[1-9]\d{0,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  const revision = Number(digits);
  if (!Number.isSafeInteger(revision) || cursorBehind(revision) !== cursor) {
    throw new RequestRefused('VALIDATION_ERROR', undefined, {
      errors: [{ field: 'cursor', message: 'must be a cursor from an earlier response' }],
    });
  }
  return revision;
}

/** A record that matches the filters. */
export interface SelectedRecord {
  readonly eventId: string;
  readonly revision: number;
  readonly documentSlug: string | null;
}

/** A record that was erased, in the order of the announcements. */
export interface SelectedErasure {
  /** Id of the erased record. */
  readonly eventId: string;
  /** Revision of the announcement in the site's stream, which the records are in as well. */
  readonly revision: number;
  readonly announcedAt: Date;
}

/** Number of records per page, which are all in memory with their content. */
const PAGE = 200;
/** Maximum number of rows of a visitor that one statement looks up. */
const ROWS_OF_VISITOR = 1_000;
/** Number of revisions that one statement examines, which limits its run time when few records match. */
const WINDOW = 50_000;

/** A part of a site's stream: after one revision, up to another. */
export interface StreamRange {
  readonly after: number;
  readonly upTo: number;
}

/**
 * Selects the matching records of a site in the order of its stream. For a visitor, only records with an unaltered key
 * row are selected. Each page is a separate statement, so a slow caller keeps no transaction open. The revisions of a
 * visitor's records are held in memory.
 * @param gone aborted when nobody waits for the records any more; the work then ends before its next statement
 * @throws RequestRefused VALIDATION_ERROR if the site has no such document or version; the reason of `gone`
 */
export async function* selectRecords(
  db: Queryable,
  keyRows: KeyRows,
  site: SiteContext,
  filter: ExportQuery,
  { after, upTo: end }: StreamRange,
  gone: AbortSignal,
): AsyncGenerator<readonly SelectedRecord[], void> {
  const { siteId } = site;
  const versions = await versionsOf(db, siteId, filter);
  if (filter.visitor_id !== undefined) {
    const index = blindIndex(site.siteKey, 'visitor', filter.visitor_id);
    const options = { siteId, filter, versions, after, upTo: end };
    const revisions = await revisionsOf(db, { siteId, kind: 'visitor', index }, options, gone);
    for (let first = 0; first < revisions.length; first += PAGE) {
      gone.throwIfAborted();
      const page = await selectAt(db, siteId, revisions.slice(first, first + PAGE));
      const chosen = await ofVisitor(db, keyRows, siteId, index, page);
      if (chosen.length > 0) yield chosen;
    }
    return;
  }
  for (let done = after; done < end; ) {
    gone.throwIfAborted();
    const windowEnd = Math.min(done + WINDOW, end);
    const page = await selectPage(db, { siteId, filter, versions, after: done, upTo: windowEnd });
    if (page.length > 0) yield page;
    done = page.length === PAGE ? (page.at(-1)?.revision ?? windowEnd) : windowEnd;
  }
}

async function ofVisitor(
  db: Queryable,
  keyRows: KeyRows,
  siteId: string,
  visitor: Uint8Array,
  page: readonly SelectedRecord[],
): Promise<readonly SelectedRecord[]> {
  const eventIds = page.map(({ eventId }) => eventId);
  const own = await recordsOfPerson(db, keyRows, siteId, ['visitor_index', visitor], eventIds);
  return page.filter(({ eventId }) => own.has(eventId));
}

interface PageOptions {
  readonly siteId: string;
  readonly filter: ExportQuery;
  readonly versions: readonly string[] | null;
  readonly after: number;
  readonly upTo: number;
}

type Bind = (value: unknown) => string;

/** Conditions on `read_model.consents c`, each after `and`. */
function conditionsOf({ siteId, filter, versions, after, upTo }: PageOptions, bind: Bind): string {
  const conditions = [`c.site_id = ${bind(siteId)}`, `c.revision > ${bind(after)}`, `c.revision <= ${bind(upTo)}`];
  const where = (condition: (parameter: string) => string, value: unknown): void => {
    if (value !== undefined && value !== null) conditions.push(condition(bind(value)));
  };
  where((p) => `c.consent_type = ${p}`, filter.consent_type);
  where((p) => `c.document_version_id = any(${p}::uuid[])`, versions);
  where((p) => `c.created_at >= ${p}::timestamptz`, filter.from);
  where((p) => `c.created_at < ${p}::timestamptz`, filter.to);
  return conditions.join(' and ');
}

const PlacedRows = z.array(z.object({ event_id: z.string(), revision: z.int().nullable() }));

/**
 * Returns the revisions of the matching records of a person, in order. Each row of the person is read once. An erased
 * record has no key row, and never matches.
 */
async function revisionsOf(
  db: Queryable,
  person: IndexedPerson,
  options: PageOptions,
  gone: AbortSignal,
): Promise<readonly number[]> {
  const revisions: number[] = [];
  for (let after: string | null = null; ; ) {
    gone.throwIfAborted();
    const values: unknown[] = [];
    const bind: Bind = (value) => `$${values.push(value)}`;
    // OFFSET makes the planner use the primary key. The index of a site would lead through all records of the site for
    // each row.
    const { rows } = await db.query(
      `select k.event_id, c.revision
         from ${personRowsSql(person, 'oldest first', after, ROWS_OF_VISITOR, bind)} k
         left join lateral (select * from read_model.consents c where c.event_id = k.event_id offset 0) c
           on ${conditionsOf(options, bind)}
        order by k.event_id`,
      values,
    );
    const page = PlacedRows.parse(rows);
    for (const { revision } of page) if (revision !== null) revisions.push(revision);
    const last = page.at(-1);
    if (last === undefined || page.length < ROWS_OF_VISITOR) return revisions.sort((a, b) => a - b);
    after = last.event_id;
  }
}

const SelectedRows = z.array(
  z
    .object({ event_id: z.string(), revision: z.int(), slug: z.string().nullable() })
    .transform((row): SelectedRecord => ({ eventId: row.event_id, revision: row.revision, documentSlug: row.slug })),
);

const selected = (consents: string): string => `
  select c.event_id, c.revision, d.slug
    from ${consents}
    left join document_versions v on v.id = c.document_version_id and v.site_id = c.site_id
    left join documents d on d.id = v.document_id`;

async function selectPage(db: Queryable, options: PageOptions): Promise<readonly SelectedRecord[]> {
  const values: unknown[] = [];
  const conditions = conditionsOf(options, (value) => `$${values.push(value)}`);
  // Not a named statement, because the plan depends on the filters and their selectivity.
  const { rows } = await db.query(
    `${selected('read_model.consents c')} where ${conditions} order by c.revision limit ${PAGE}`,
    values,
  );
  return SelectedRows.parse(rows);
}

/** Selects the records at revisions of a site. */
async function selectAt(
  db: Queryable,
  siteId: string,
  revisions: readonly number[],
): Promise<readonly SelectedRecord[]> {
  // OFFSET makes the planner look each record up by its position, regardless of its estimates for the site.
  const consents = `unnest($2::bigint[]) w (revision) cross join lateral (
    select c.* from read_model.consents c where c.site_id = $1 and c.revision = w.revision offset 0) c`;
  const { rows } = await db.query(`${selected(consents)} order by c.revision`, [siteId, revisions]);
  return SelectedRows.parse(rows);
}

const ErasureRows = z.array(
  z.object({ event_id: z.string(), revision: z.int(), announced_at: z.date() }).transform((row): SelectedErasure => {
    const { event_id: eventId, revision, announced_at: announcedAt } = row;
    return { eventId, revision, announcedAt };
  }),
);

/** Selects the erasures of a site in the order of their announcements, a page in each statement. */
export async function* selectErasures(
  db: Queryable,
  siteId: string,
  { after, upTo }: StreamRange,
): AsyncGenerator<readonly SelectedErasure[], void> {
  for (let done = after; ; ) {
    const { rows } = await db.query({
      name: 'erasures-after',
      text: `select event_id, revision, announced_at from read_model.erasures
              where site_id = $1 and revision > $2 and revision <= $3
              order by revision limit ${PAGE}`,
      values: [siteId, done, upTo],
    });
    const page = ErasureRows.parse(rows);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    done = last.revision;
  }
}

const LastRevision = z.tuple([z.object({ revision: z.int().nullable() })]);

/**
 * Returns the last revision of a site's stream that the read model shows, or -1 if there is none. Every record and
 * every erasure up to it can be selected.
 */
export async function lastShownRevision(db: Queryable, siteId: string): Promise<number> {
  const { rows } = await db.query(
    `select greatest((select max(revision) from read_model.consents where site_id = $1),
                     (select max(revision) from read_model.erasures where site_id = $1)) as revision`,
    [siteId],
  );
  return LastRevision.parse(rows)[0].revision ?? -1;
}

const VersionIds = z.array(z.object({ id: z.string() }));

/** Returns the document versions that the filters permit, or null for all. @throws RequestRefused VALIDATION_ERROR */
export async function versionsOf(
  db: Queryable,
  siteId: string,
  filter: ExportQuery,
): Promise<readonly string[] | null> {
  const { document_slug: slug, document_version_id: versionId } = filter;
  if (slug === undefined && versionId === undefined) return null;
  const { rows } = await db.query(
    `select v.id
       from document_versions v
       join documents d on d.id = v.document_id
      where v.site_id = $1 and ($2::text is null or d.slug = $2) and ($3::uuid is null or v.id = $3)`,
    [siteId, slug ?? null, versionId ?? null],
  );
  const ids = VersionIds.parse(rows).map(({ id }) => id);
  if (ids.length > 0) return ids;
  const field = versionId === undefined ? 'document_slug' : 'document_version_id';
  throw new RequestRefused('VALIDATION_ERROR', undefined, { errors: [{ field, message: 'is unknown to this site' }] });
}
