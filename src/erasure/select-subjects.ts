import * as z from 'zod';
import type { Queryable } from '../platform/database/pool.js';
import { timeOfEventId } from '../platform/event-ids.js';
import { type BlindIndexKind, type KeyRows, nextPersonRows } from '../platform/keys/index.js';
import type { ErasureRequest } from './requests.js';

/** The next records of an erasure. */
export interface RecordPage {
  /** At most `MAX_ERASED_RECORDS`, sorted. */
  readonly eventIds: readonly string[];
  /** Event id after which the next page starts, or null if this page is the last. */
  readonly next: string | null;
}

/** Maximum number of records that one transaction erases. */
const MAX_ERASED_RECORDS = 1_000;

/**
 * Maximum number of rows of the key table that one transaction examines. The scan follows its primary key, over the
 * records of all sites.
 */
const RETENTION_SCAN = 20_000;
const MAX_TOKENS = 1_000;

/** The column of each blind index, in `record_keys` and `approval_tokens`. */
export const INDEX_COLUMNS: Readonly<Record<BlindIndexKind, string>> = {
  visitor: 'visitor_index',
  email: 'email_index',
  phone: 'phone_index',
  id_number: 'id_number_index',
};

const eventRows = z.array(z.object({ event_id: z.string() }));
const scanRows = z.array(z.object({ event_id: z.string(), is_own: z.boolean() }));
const tokenRows = z.array(z.object({ id: z.string() }));

/**
 * Finds the next records that still have keys. When a person is erased, a record whose key row was altered is left out,
 * because it could belong to another person.
 * @param db a handle in a transaction that holds the lock on the site's row
 * @param after event id after which the page starts, or null to start at the first
 */
export async function nextRecords(
  db: Queryable,
  keyRows: KeyRows,
  request: Pick<ErasureRequest, 'siteId' | 'target'>,
  after: string | null,
): Promise<RecordPage> {
  const { siteId, target } = request;
  switch (target.kind) {
    case 'record': {
      const { rows } = await db.query('select event_id from record_keys where event_id = $1 and site_id = $2', [
        target.eventId,
        siteId,
      ]);
      return { eventIds: eventRows.parse(rows).map((row) => row.event_id), next: null };
    }
    case 'person': {
      const person = { siteId, kind: target.index, index: target.value };
      const found = await nextPersonRows(db, person, after, MAX_ERASED_RECORDS);
      const eventIds = (await keyRows.openKeyRows(found)).map(({ eventId }) => eventId);
      return { eventIds, next: found.length < MAX_ERASED_RECORDS ? null : (found.at(-1)?.event_id ?? null) };
    }
    case 'retention':
      return nextOldRecords(db, siteId, target.belowEventId, after);
  }
}

async function nextOldRecords(db: Queryable, siteId: string, below: string, after: string | null): Promise<RecordPage> {
  const { rows } = await db.query(
    `select event_id, site_id = $1 as is_own from record_keys
      where event_id < $2 and ($3::uuid is null or event_id > $3) order by event_id limit $4`,
    [siteId, below, after, RETENTION_SCAN],
  );
  const scanned = scanRows.parse(rows);
  const own = scanned.filter((row) => row.is_own).map((row) => row.event_id);
  if (own.length > MAX_ERASED_RECORDS) {
    const eventIds = own.slice(0, MAX_ERASED_RECORDS);
    return { eventIds, next: eventIds.at(-1) ?? null };
  }
  return { eventIds: own, next: scanned.length < RETENTION_SCAN ? null : (scanned.at(-1)?.event_id ?? null) };
}

/**
 * Finds the next approval tokens of an erasure: those that these records consumed and, after the last page of records,
 * the remaining ones of the person or of the same age. Tokens are short-lived, so few remain. Looking all of them up
 * with each page would read a person's tokens once per page. The lock on the site's row prevents concurrent use.
 */
export async function nextApprovalTokens(
  db: Queryable,
  { siteId, target }: Pick<ErasureRequest, 'siteId' | 'target'>,
  { eventIds, next }: RecordPage,
): Promise<{ readonly ids: readonly string[]; readonly mayBeMore: boolean }> {
  if (next !== null) {
    // OFFSET makes the planner use the index even if a page of records is a large part of the table.
    const { rows } = await db.query(
      `select t.id
         from unnest($2::uuid[]) e (id)
         cross join lateral (select id, site_id from approval_tokens where consumed_by = e.id offset 0) t
        where t.site_id = $1 order by t.id`,
      [siteId, eventIds],
    );
    return { ids: tokenRows.parse(rows).map((row) => row.id), mayBeMore: false };
  }
  const [condition, value] =
    target.kind === 'person'
      ? [`${INDEX_COLUMNS[target.index]} = $2`, target.value]
      : target.kind === 'retention'
        ? ['created_at < $2', timeOfEventId(target.belowEventId)]
        : ['consumed_by = $2', target.eventId];
  const { rows } = await db.query(
    // OFFSET 0 makes the planner use the indexes instead of the order of ids.
    `select id from (
       select id from approval_tokens where site_id = $1 and (${condition} or consumed_by = any($3::uuid[])) offset 0) t
      order by id limit $4`,
    [siteId, value, eventIds, MAX_TOKENS],
  );
  const ids = tokenRows.parse(rows).map((row) => row.id);
  return { ids, mayBeMore: ids.length === MAX_TOKENS };
}
