import * as z from 'zod';
import type { ConsentFilter } from '../../../schemas/api/panel/consents.js';
import { INDEX_COLUMNS } from '../../erasure/index.js';
import { isStamped } from '../../pipeline/ledger/read-checkpoints.js';
import type { Queryable } from '../../platform/database/pool.js';
import { withTransaction } from '../../platform/database/pool.js';
import { consentsStreamSql } from '../../platform/database/shared-statements.js';
import { timeOfEventId } from '../../platform/event-ids.js';
import { type BlindIndexKind, type KeyRows, personRowsSql } from '../../platform/keys/index.js';
import { recordsOfPerson } from '../package/personal-data.js';
import { CONSENT_COLUMNS, CONSENT_JOINS, ConsentRow } from './consent-row.js';

/** A record in the order of a search: the newest first. */
export interface SearchPlace {
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly eventId: string;
}

/** Filter of the records of a site. */
export interface ConsentSearch {
  readonly siteId: string;
  readonly filter: ConsentFilter;
  /** The blind index of a person, or null for the records of every person. */
  readonly person: { readonly kind: BlindIndexKind; readonly index: Uint8Array } | null;
  /** The search continues after this record. If null, it starts with the newest. */
  readonly after: SearchPlace | null;
}

export interface FoundConsents {
  readonly rows: readonly ConsentRow[];
  /** Position after which the next search continues, or null if there are no further records. */
  readonly next: SearchPlace | null;
}

/**
 * Limits of the records that one statement and one request examine, so that neither takes long even if few records
 * match.
 */
export interface SearchLimits {
  readonly firstWindow: number;
  readonly lastWindow: number;
  readonly perRequest: number;
}

const LIMITS: SearchLimits = { firstWindow: 2_000, lastWindow: 10_000, perRequest: 100_000 };
const GROWTH = 4;

export interface SearchOptions {
  /** Aborted when nobody waits for the result any more. The search then ends before its next statement. */
  readonly gone?: AbortSignal;
  readonly limits?: SearchLimits;
}

/**
 * Searches the records of a site that match, newest first. The columns of the read model decide
 * which ones match. A record whose key row was altered belongs to no person.
 * @param db a handle in the role `consent_ledger_api`
 * @returns at most `filter.limit` rows; fewer, with `next`, if the limit of examined records was
 *   reached
 * @throws the reason of `gone`; database errors
 */
export async function searchConsents(
  db: Queryable,
  keyRows: KeyRows,
  search: ConsentSearch,
  { gone, limits = LIMITS }: SearchOptions = {},
): Promise<FoundConsents> {
  const { filter } = search;
  let place = search.after;
  const found: ConsentRow[] = [];
  const now = new Date();
  let window = limits.firstWindow;
  for (let seen = 0; seen < limits.perRequest; window = Math.min(window * GROWTH, limits.lastWindow)) {
    gone?.throwIfAborted();
    const missing = filter.limit + 1 - found.length;
    const page = await searchWindow(db, search, { place, window, missing, now });
    found.push(...(await ofPersonOnly(db, keyRows, search, page.rows)));
    const last = found[filter.limit - 1];
    if (found.length > filter.limit && last !== undefined) {
      return {
        rows: found.slice(0, filter.limit),
        next: { createdAt: last.created_at.getTime(), eventId: last.event_id },
      };
    }
    // If the page is full, the window may have further matches.
    const lastShown = page.rows.length === missing ? page.rows.at(-1) : undefined;
    if (lastShown !== undefined) place = { createdAt: lastShown.created_at.getTime(), eventId: lastShown.event_id };
    else if (page.last === null) return { rows: found, next: null };
    else place = page.last;
    seen += window;
  }
  return { rows: found, next: place };
}

/** Keeps the rows whose key rows show that they belong to the person. */
async function ofPersonOnly(
  db: Queryable,
  keyRows: KeyRows,
  { siteId, person }: ConsentSearch,
  rows: readonly ConsentRow[],
): Promise<readonly ConsentRow[]> {
  if (person === null || rows.length === 0) return rows;
  const eventIds = rows.map((row) => row.event_id);
  const own = await recordsOfPerson(db, keyRows, siteId, [INDEX_COLUMNS[person.kind], person.index], eventIds);
  return rows.filter((row) => own.has(row.event_id));
}

interface Window {
  readonly place: SearchPlace | null;
  readonly window: number;
  readonly missing: number;
  readonly now: Date;
}

const WindowRow = z.object({ seen: z.int(), last_id: z.string().nullable(), is_found: z.boolean() });

/**
 * A window is a few thousand rows of tables of any size. The planner must find them through an index and in its order,
 * regardless of the statistics. A plan that reads or sorts a whole site took twenty times as long.
 */
const INDEX_LOOK_UPS =
  'set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off';

/**
 * Examines the next records.
 * @returns the matching rows, and the last record examined, or null if there are none after it
 */
async function searchWindow(
  db: Queryable,
  search: ConsentSearch,
  { place, window, missing, now }: Window,
): Promise<{ readonly rows: readonly ConsentRow[]; readonly last: SearchPlace | null }> {
  const values: unknown[] = [search.siteId];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const examined =
    search.person === null ? ofSite(search, place, window, bind) : ofPerson(search, search.person, place, window, bind);
  const matching = conditionsOf(search.filter, now, bind).join(' and ');
  const text = `with w as materialized (${examined.sql})
     select (select count(*)::int from w) as seen, (select w.event_id from w order by ${examined.oldestFirst} limit 1) as last_id,
            f.event_id is not null as is_found, f.*
       from (select) as once
       left join lateral (
         select ${CONSENT_COLUMNS}
           from (select w.event_id from w where ${matching} order by w.created_at desc, w.event_id desc limit ${bind(missing)}) chosen
           join read_model.consents c on c.event_id = chosen.event_id
           ${CONSENT_JOINS}) f on true
      order by f.created_at desc nulls last, f.event_id desc`;
  const { rows } = await withTransaction(db, async (db) => {
    await db.query(INDEX_LOOK_UPS);
    // Not a named statement, because the plan depends on the filters.
    return db.query(text, values);
  });
  const bounds = z.array(WindowRow).min(1).parse(rows);
  const [{ seen, last_id: last } = { seen: 0, last_id: null }] = bounds;
  return {
    rows: z.array(ConsentRow).parse(rows.filter((_, index) => bounds[index]?.is_found === true)),
    last: seen < window || last === null ? null : { createdAt: timeOfEventId(last).getTime(), eventId: last },
  };
}

type Bind = (value: unknown) => string;
interface Examined {
  readonly sql: string;
  readonly oldestFirst: string;
}

const COLUMNS = `c.revision, c.created_at, c.consent_type, c.decision, c.categories, c.document_version_id, c.channel,
  c.valid_until, c.erased_by`;

/** The next records of the site. */
function ofSite({ filter }: ConsentSearch, place: SearchPlace | null, window: number, bind: Bind): Examined {
  const within = ['c.site_id = $1'];
  if (filter.from !== undefined) within.push(`c.created_at >= ${bind(new Date(filter.from))}`);
  if (filter.to !== undefined) within.push(`c.created_at < ${bind(new Date(filter.to))}`);
  if (place !== null) {
    const at = `${bind(new Date(place.createdAt))}::timestamptz`;
    within.push(`c.created_at <= ${at}`, `(c.created_at, c.event_id) < (${at}, ${bind(place.eventId)}::uuid)`);
  }
  return {
    sql: `select c.event_id, ${COLUMNS} from read_model.consents c where ${within.join(' and ')}
           order by c.created_at desc, c.event_id desc limit ${bind(window)}`,
    oldestFirst: 'w.created_at, w.event_id',
  };
}

/**
 * The next records of the person by their ids, which begin with their times. A record that the read model does not show
 * yet is also examined.
 */
function ofPerson(
  { siteId }: ConsentSearch,
  person: NonNullable<ConsentSearch['person']>,
  place: SearchPlace | null,
  window: number,
  bind: Bind,
): Examined {
  const rows = personRowsSql({ siteId, ...person }, 'newest first', place?.eventId ?? null, window, bind);
  // OFFSET makes the planner use the primary key. The index of a site would lead through all records of the site for
  // each row.
  return {
    sql: `select k.event_id, ${COLUMNS}
            from ${rows} k
            left join lateral (select * from read_model.consents c where c.event_id = k.event_id offset 0) c on c.site_id = $1`,
    oldestFirst: 'w.event_id',
  };
}

function conditionsOf(filter: ConsentFilter, now: Date, bind: Bind): readonly string[] {
  const conditions = ['w.created_at is not null'];
  const add = (value: string | boolean | Date | undefined, condition: (parameter: string) => string): void => {
    if (value !== undefined) conditions.push(condition(bind(value)));
  };
  add(filter.from && new Date(filter.from), (p) => `w.created_at >= ${p}`);
  add(filter.to && new Date(filter.to), (p) => `w.created_at < ${p}`);
  add(filter.consent_type, (p) => `w.consent_type = ${p}`);
  add(filter.decision, (p) => `w.decision = ${p}`);
  add(filter.channel, (p) => `w.channel = ${p}`);
  add(filter.document_version_id, (p) => `w.document_version_id = ${p}::uuid`);
  add(filter.document_slug, (p) => `w.document_version_id in (${VERSIONS_OF_SLUG} and d.slug = ${p})`);
  add(filter.category, (p) => `w.categories ? ${p}`);
  if (filter.category !== undefined && filter.category_granted !== undefined) {
    conditions.push(`w.categories -> ${bind(filter.category)} = to_jsonb(${bind(filter.category_granted)}::boolean)`);
  }
  add(filter.is_anonymized, (p) => `${ANONYMIZED} = ${p}::boolean`);
  if (filter.is_expired !== undefined) {
    conditions.push(`coalesce(w.valid_until <= ${bind(now)}, false) = ${bind(filter.is_expired)}::boolean`);
  }
  add(filter.is_stamped, (p) => `${STAMPED} = ${p}::boolean`);
  return conditions;
}

const VERSIONS_OF_SLUG =
  'select v.id from document_versions v join documents d on d.id = v.document_id where v.site_id = $1';
const ANONYMIZED =
  '(w.erased_by is not null or not exists (select from record_keys k where k.event_id = w.event_id and k.site_id = $1))';
// A stamped checkpoint covers every Merkle batch whose number is below its size.
const STAMPED = `exists (select from leaves l where l.stream = ${consentsStreamSql('$1::uuid')} and l.revision = w.revision
  and ${isStamped('l.batch')})`;
