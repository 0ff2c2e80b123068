import type pg from 'pg';
import { z } from 'zod';
import { statedOrigin } from '../../../schemas/api/stated-origin.js';
import { MAX_STATUS_ITEMS, StatusItem, type StatusQuery } from '../../../schemas/api/status.js';
import { originOf } from '../../../schemas/events/consent-imported.js';
import { consentToken } from '../../../schemas/events/consent-recorded.js';
import { type LoggedRecord, readLoggedRecords } from '../../evidence/verification/logged-record.js';
import { CLAIMED_AT } from '../../evidence/verification/stored-record.js';
import type { EventLog } from '../../pipeline/event-log/port.js';
import type { Queryable } from '../../platform/database/pool.js';
import {
  blindIndex,
  findProofKey,
  isProofHashOf,
  type Keyring,
  keyRowColumns,
  keyRowsOf,
} from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { getConsentStatus } from './operations/reading.js';
import { reads, type ToolRoute } from './route.js';

export interface StatusOptions {
  /** In the role `consent_ledger_api`. */
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly keyring: Pick<Keyring, 'proofKeyById' | 'openKeyRows' | 'reportAltered'>;
}

/**
 * Serves the consents of one visitor that are in force, newest first. Imported ones follow all others, by
 * the time that the former tool states (docs/import.md). The read model finds them, and the event log has
 * what is shown. A record whose stored rows were altered is left out and reported;
 * the others are shown.
 */
export function statusRoutes(options: StatusOptions): readonly ToolRoute[] {
  return [
    reads(getConsentStatus, async ({ caller, query }) => ({
      data: { consents: await consentsInForce(options, caller.site, query) },
    })),
  ];
}

// An erased record has no key row, so this never finds it. The other columns of the read model are
// copies of the record, and decide nothing here. No statistics exist on the index of the visitor:
// OFFSET makes the planner look the visitor up first.
const STATUS_SQL = `
select c.revision, ${CLAIMED_AT} as claimed_at, encode(c.proof_hash, 'hex') as proof_hash, c.document_version_id, d.slug, ${keyRowColumns('k')}
  from (select * from record_keys where site_id = $1 and visitor_index = $2 offset 0) k
  join read_model.consents c on c.event_id = k.event_id and c.site_id = k.site_id
  left join document_versions v on v.id = c.document_version_id and v.site_id = c.site_id
  left join documents d on d.id = v.document_id
 where ($3::bigint is null or (coalesce(${CLAIMED_AT}, 'infinity'), c.revision) < (coalesce($4::timestamptz, 'infinity'), $3))
 order by coalesce(${CLAIMED_AT}, 'infinity') desc, c.revision desc
 limit $5`;

const StatusRow = z.object({
  event_id: z.string(),
  site_id: z.string(),
  revision: z.int(),
  claimed_at: z.date().nullable(),
  proof_hash: z.string(),
  document_version_id: z.string(),
  slug: z.string().nullable(),
});
type StatusRow = z.infer<typeof StatusRow>;

async function consentsInForce(
  { db, eventLog, keyring }: StatusOptions,
  site: SiteContext,
  query: StatusQuery,
): Promise<StatusItem[]> {
  const visitor = blindIndex(site.siteKey, 'visitor', query.visitor_id);
  const found: StatusItem[] = [];
  /** Kinds of which a newer consent has expired. It stays newer than an imported one, which may be valid for longer. */
  const ended = new Set<string>();
  const now = Date.now();
  for (let before: Pick<StatusRow, 'revision' | 'claimed_at'> | null = null; ; ) {
    const { rows }: pg.QueryResult = await db.query({
      name: 'consent_status',
      text: STATUS_SQL,
      values: [site.siteId, visitor, before?.revision ?? null, before?.claimed_at ?? null, MAX_STATUS_ITEMS],
    });
    const page = z.array(StatusRow).parse(rows);
    const opened = new Set((await keyring.openKeyRows(keyRowsOf(rows))).map(({ eventId }) => eventId));
    const own = page.filter((row) => opened.has(row.event_id));
    const logged = await readLoggedRecords(eventLog, own);
    for (const [place, row] of own.entries()) {
      const item = await provedItem(row, logged[place] ?? null, keyring);
      if (item === null) keyring.reportAltered({ table: 'read_model.consents', id: row.event_id });
      else if (item.valid_until !== null && Date.parse(item.valid_until) <= now) ended.add(kindOf(item));
      else if (matchesQuery(item, query) && (item.imported_from === null || !ended.has(kindOf(item)))) found.push(item);
      if (found.length === MAX_STATUS_ITEMS) return found;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < MAX_STATUS_ITEMS) return found;
    before = last;
  }
}

/**
 * The record, if its proof hash matches its text and the columns that selected it match the record.
 * @returns null if the row of the read model or the event was altered
 */
async function provedItem(
  row: StatusRow,
  logged: LoggedRecord | null,
  keys: Pick<Keyring, 'proofKeyById'>,
): Promise<StatusItem | null> {
  if (logged === null || logged.record === null) return null;
  const { record, text } = logged;
  const key = await findProofKey(keys, record.proof_key_id);
  const isSelected =
    record.event_id === row.event_id &&
    record.site_id === row.site_id &&
    record.document_version_id === row.document_version_id &&
    // It decides on the order.
    (originOf(record)?.claimed_at ?? null) === (row.claimed_at?.toISOString() ?? null);
  if (!isSelected || key === null || !isProofHashOf(text, row.proof_hash, key.key)) return null;
  return StatusItem.parse({
    ...record,
    id: record.event_id,
    consent_token: consentToken(record.event_id),
    proof_hash: row.proof_hash,
    document_slug: row.slug,
    ...statedOrigin(record),
  });
}

function kindOf({ consent_type: type, document_slug: slug }: StatusItem): string {
  return JSON.stringify([type, slug]);
}

function matchesQuery(item: StatusItem, query: StatusQuery): boolean {
  return (
    (query.consent_type === undefined || item.consent_type === query.consent_type) &&
    (query.document_slug === undefined || item.document_slug === query.document_slug) &&
    (query.document_version_id === undefined || item.document_version_id === query.document_version_id)
  );
}
