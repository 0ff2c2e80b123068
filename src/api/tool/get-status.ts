import type pg from 'pg';
import { z } from 'zod';
import { MAX_STATUS_ITEMS, StatusItem, type StatusQuery } from '../../../schemas/api/status.js';
import { consentToken } from '../../../schemas/events/consent-recorded.js';
import { readRecord } from '../../evidence/verification/check-record.js';
import type { Queryable } from '../../platform/database/pool.js';
import {
  blindIndex,
  isProofHashOf,
  KeyError,
  type Keyring,
  keyRowColumns,
  keyRowsOf,
} from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { getConsentStatus } from './operations/reading.js';
import { reads, type ToolRoute } from './route.js';

export type StatusKeys = Pick<Keyring, 'proofKeyById' | 'openKeyRows' | 'reportAltered'>;

/**
 * Serves the consents of one visitor that are in force, newest first. A record whose stored
 * rows were altered is left out and reported; the others are shown.
 * @param db in the role `consent_ledger_api`
 */
export function statusRoutes(db: Queryable, keys: StatusKeys): readonly ToolRoute[] {
  return [
    reads(getConsentStatus, async ({ caller, query }) => ({
      data: { consents: await consentsInForce(db, keys, caller.site, query) },
    })),
  ];
}

// An erased record has no key row, so this never finds it. The other columns of the read model are
// copies of the record, and decide nothing here. No statistics exist on the index of the visitor:
// OFFSET makes the planner look the visitor up first.
const STATUS_SQL = `
select c.revision, c.record, c.proof_hash, c.document_version_id, d.slug, ${keyRowColumns('k')}
  from (select * from record_keys where site_id = $1 and visitor_index = $2 offset 0) k
  join read_model.consents c on c.event_id = k.event_id and c.site_id = k.site_id
  left join document_versions v on v.id = c.document_version_id and v.site_id = c.site_id
  left join documents d on d.id = v.document_id
 where ($3::bigint is null or c.revision < $3)
 order by c.revision desc
 limit $4`;
const PAGE = 50;

const StatusRow = z.object({
  event_id: z.string(),
  revision: z.int(),
  record: z.string(),
  proof_hash: z.string(),
  document_version_id: z.string(),
  slug: z.string().nullable(),
});
type StatusRow = z.infer<typeof StatusRow>;

async function consentsInForce(
  db: Queryable,
  keys: StatusKeys,
  site: SiteContext,
  query: StatusQuery,
): Promise<StatusItem[]> {
  const visitor = blindIndex(site.siteKey, 'visitor', query.visitor_id);
  const found: StatusItem[] = [];
  for (let before: number | null = null; ; ) {
    const { rows }: pg.QueryResult = await db.query({
      name: 'consent_status',
      text: STATUS_SQL,
      values: [site.siteId, visitor, before, PAGE],
    });
    const page = z.array(StatusRow).parse(rows);
    const own = new Set((await keys.openKeyRows(keyRowsOf(rows))).map(({ eventId }) => eventId));
    for (const row of page) {
      if (!own.has(row.event_id)) continue;
      const item = await provedItem(row, site, keys);
      if (item === null) keys.reportAltered({ table: 'read_model.consents', id: row.event_id });
      else if (matchesQuery(item, query, Date.now())) found.push(item);
      if (found.length === MAX_STATUS_ITEMS) return found;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return found;
    before = last.revision;
  }
}

/**
 * The record, if its proof hash matches its text and the columns that selected it match the record.
 * @returns null if the row of the read model was altered
 */
async function provedItem(row: StatusRow, site: SiteContext, keys: StatusKeys): Promise<StatusItem | null> {
  const record = readRecord(row.record);
  if (record === null) return null;
  const key = await proofKeyOf(keys, record.proof_key_id);
  const isSelected =
    record.event_id === row.event_id &&
    record.site_id === site.siteId &&
    record.document_version_id === row.document_version_id;
  if (!isSelected || key === null || !isProofHashOf(row.record, row.proof_hash, key)) return null;
  return StatusItem.parse({
    ...record,
    id: record.event_id,
    consent_token: consentToken(record.event_id),
    proof_hash: row.proof_hash,
    document_slug: row.slug,
  });
}

async function proofKeyOf(keys: StatusKeys, keyId: string): Promise<Uint8Array | null> {
  try {
    return (await keys.proofKeyById(keyId)).key;
  } catch (error) {
    if (!(error instanceof KeyError) || error.code !== 'key_missing') throw error;
    return null;
  }
}

function matchesQuery(item: StatusItem, query: StatusQuery, now: number): boolean {
  return (
    (item.valid_until === null || Date.parse(item.valid_until) > now) &&
    (query.consent_type === undefined || item.consent_type === query.consent_type) &&
    (query.document_slug === undefined || item.document_slug === query.document_slug) &&
    (query.document_version_id === undefined || item.document_version_id === query.document_version_id)
  );
}
