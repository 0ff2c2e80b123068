import { z } from 'zod';
import type { ExportQuery } from '../../../schemas/api/export.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors/request-refused.js';
import { blindIndex, type KeyRows } from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { recordsOfPerson } from '../package/personal-data.js';

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

/** Records of a page, which are in memory at once with their content. */
const PAGE = 200;
/** Revisions that one statement examines. The limit bounds its run time when few records match. */
const WINDOW = 50_000;

/** A part of a site's stream: after one revision, up to another. */
export interface StreamRange {
  readonly after: number;
  readonly upTo: number;
}

/**
 * Selects the matching records of a site in the order of its stream. Of a visitor, only records
 * whose key row is unaltered are selected. Each page is a separate statement: a slow caller keeps no
 * transaction open.
 * @throws RequestRefused VALIDATION_ERROR if the site has no such document or version
 */
export async function* selectRecords(
  db: Queryable,
  keyRows: KeyRows,
  site: SiteContext,
  filter: ExportQuery,
  { after, upTo: end }: StreamRange,
): AsyncGenerator<readonly SelectedRecord[], void> {
  const visitor = filter.visitor_id === undefined ? null : blindIndex(site.siteKey, 'visitor', filter.visitor_id);
  const versions = await versionsOf(db, site.siteId, filter);
  for (let done = after; done < end; ) {
    const windowEnd = Math.min(done + WINDOW, end);
    const page = await selectPage(db, { site, filter, visitor, versions, after: done, upTo: windowEnd });
    const chosen = visitor === null ? page : await ofVisitor(db, keyRows, site.siteId, visitor, page);
    if (chosen.length > 0) yield chosen;
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
  readonly site: SiteContext;
  readonly filter: ExportQuery;
  /** Blind index of the visitor that the filter names; null: none. */
  readonly visitor: Uint8Array | null;
  readonly versions: readonly string[] | null;
  readonly after: number;
  readonly upTo: number;
}

const SelectedRows = z.array(
  z
    .object({ event_id: z.string(), revision: z.int(), slug: z.string().nullable() })
    .transform((row): SelectedRecord => ({ eventId: row.event_id, revision: row.revision, documentSlug: row.slug })),
);

async function selectPage(db: Queryable, options: PageOptions): Promise<readonly SelectedRecord[]> {
  const { site, filter } = options;
  const values: unknown[] = [site.siteId, options.after, options.upTo];
  const conditions: string[] = [];
  const where = (condition: (parameter: string) => string, value: unknown): void => {
    if (value === undefined || value === null) return;
    values.push(value);
    conditions.push(`and ${condition(`$${values.length}`)}`);
  };
  where((p) => `c.consent_type = ${p}`, filter.consent_type);
  where((p) => `c.document_version_id = any(${p}::uuid[])`, options.versions);
  where((p) => `c.created_at >= ${p}::timestamptz`, filter.from);
  where((p) => `c.created_at < ${p}::timestamptz`, filter.to);
  // An erased record has no blind index any more and never matches a visitor. No statistics exist on
  // the index: OFFSET makes the planner look the visitor up first.
  where(
    (p) =>
      `c.event_id in (select k.event_id from record_keys k where k.site_id = $1 and k.visitor_index = ${p} offset 0)`,
    options.visitor,
  );
  // Not a named statement, because the plan depends on the filters and their selectivity.
  const { rows } = await db.query(
    `select c.event_id, c.revision, d.slug
       from read_model.consents c
       left join document_versions v on v.id = c.document_version_id and v.site_id = c.site_id
       left join documents d on d.id = v.document_id
      where c.site_id = $1 and c.revision > $2 and c.revision <= $3 ${conditions.join(' ')}
      order by c.revision
      limit ${PAGE}`,
    values,
  );
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
 * Returns the last revision of a site's stream that the read model shows; -1: none. Every record and
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

/**
 * The document versions that the filters allow; null: all. @throws RequestRefused VALIDATION_ERROR
 */
async function versionsOf(db: Queryable, siteId: string, filter: ExportQuery): Promise<readonly string[] | null> {
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
