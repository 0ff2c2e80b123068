import type pg from 'pg';
import { z } from 'zod';
import { MAX_STATUS_ITEMS, StatusItem, type StatusQuery } from '../../../schemas/api/status.js';
import { CONSENT_RECORDED, type ConsentRecord, consentToken } from '../../../schemas/events/consent-recorded.js';
import { parseRecord } from '../../../schemas/events/sealed-event.js';
import type { Queryable } from '../../platform/database/pool.js';
import { blindIndex, isProofHashOf, type ProofKeys } from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { getConsentStatus } from './operations/reading.js';
import { reads, type ToolRoute } from './route.js';

/**
 * Serves the consents of one visitor that are in force, newest first.
 * @param db in the role `consent_ledger_api`
 */
export function statusRoutes(db: Queryable, proofKeys: ProofKeys): readonly ToolRoute[] {
  return [
    reads(getConsentStatus, async ({ caller, query }) => ({
      data: { consents: await consentsInForce(db, proofKeys, caller.site, query) },
    })),
  ];
}

// An erased record has no key row, so this never finds it. The other columns of the read model are
// copies of the record, and decide nothing here.
const STATUS_SQL = `
select c.event_id, c.revision, c.record, c.proof_hash, c.document_version_id, d.slug
  from record_keys k
  join read_model.consents c on c.event_id = k.event_id and c.site_id = k.site_id
  left join document_versions v on v.id = c.document_version_id and v.site_id = c.site_id
  left join documents d on d.id = v.document_id
 where k.site_id = $1 and k.visitor_index = $2 and ($3::bigint is null or c.revision < $3)
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
  proofKeys: ProofKeys,
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
    for (const row of page) {
      const item = itemOf(row, await provedRecord(row, site, proofKeys));
      if (matchesQuery(item, query, Date.now())) found.push(item);
      if (found.length === MAX_STATUS_ITEMS) return found;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return found;
    before = last.revision;
  }
}

/**
 * The record, if its proof hash matches its text and the columns that selected it match the record.
 * An altered row is never returned.
 */
async function provedRecord(row: StatusRow, site: SiteContext, proofKeys: ProofKeys): Promise<ConsentRecord> {
  const record = parseRecord(CONSENT_RECORDED, row.record);
  const { key } = await proofKeys.proofKeyById(record.proof_key_id);
  const isSelected =
    record.event_id === row.event_id &&
    record.site_id === site.siteId &&
    record.document_version_id === row.document_version_id;
  if (!isSelected || !isProofHashOf(row.record, row.proof_hash, key)) {
    throw new Error(`the read model's row of consent ${row.event_id} was altered: its proof hash does not match`);
  }
  return record;
}

function itemOf({ proof_hash, slug }: StatusRow, record: ConsentRecord): StatusItem {
  return StatusItem.parse({
    ...record,
    id: record.event_id,
    consent_token: consentToken(record.event_id),
    proof_hash,
    document_slug: slug,
  });
}

function matchesQuery(item: StatusItem, query: StatusQuery, now: number): boolean {
  return (
    (item.valid_until === null || Date.parse(item.valid_until) > now) &&
    (query.consent_type === undefined || item.consent_type === query.consent_type) &&
    (query.document_slug === undefined || item.document_slug === query.document_slug) &&
    (query.document_version_id === undefined || item.document_version_id === query.document_version_id)
  );
}
