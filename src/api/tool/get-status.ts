import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { z } from 'zod';
import { MAX_STATUS_ITEMS, StatusItem, StatusQuery, type StatusResponse } from '../../../schemas/api/status.js';
import { CONSENT_RECORDED, type ConsentRecord, consentToken } from '../../../schemas/events/consent-recorded.js';
import { parseRecord } from '../../../schemas/events/sealed-event.js';
import { blindIndex, isProofHashOf, type ProofKeys } from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import type { ToolGuards } from '../guards/tool-guard.js';
import { callerOf } from '../server/caller.js';
import { validate } from '../server/json-body.js';

/** GET /tool/v1/consents/status: the consents in force of one visitor, the newest first. */
export function getStatus(tool: FastifyInstance, guards: ToolGuards, pool: pg.Pool, proofKeys: ProofKeys): void {
  tool.get('/consents/status', { onRequest: guards.read }, async (request): Promise<StatusResponse> => {
    const query = validate(StatusQuery, request.query);
    return { data: { consents: await consentsInForce(pool, proofKeys, callerOf(request).site, query) } };
  });
}

// Without its key row a record belongs to nobody: an erased one is never found. The read model's other columns are copies of the record, and decide
// nothing here.
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
  pool: pg.Pool,
  proofKeys: ProofKeys,
  site: SiteContext,
  query: StatusQuery,
): Promise<StatusItem[]> {
  const visitor = blindIndex(site.siteKey, 'visitor', query.visitor_id);
  const found: StatusItem[] = [];
  for (let before: number | null = null; ; ) {
    const { rows }: pg.QueryResult = await pool.query({
      name: 'consent_status',
      text: STATUS_SQL,
      values: [site.siteId, visitor, before, PAGE],
    });
    const page = z.array(StatusRow).parse(rows);
    for (const row of page) {
      const item = itemOf(row, await provedRecord(row, site, proofKeys));
      if (isAskedFor(item, query, Date.now())) found.push(item);
      if (found.length === MAX_STATUS_ITEMS) return found;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return found;
    before = last.revision;
  }
}

/** The record, if its proof hash is that of its text and the columns that chose it say the same; a wrong one is told to nobody. */
async function provedRecord(row: StatusRow, site: SiteContext, proofKeys: ProofKeys): Promise<ConsentRecord> {
  const record = parseRecord(CONSENT_RECORDED, row.record);
  const { key } = await proofKeys.proofKeyById(record.proof_key_id);
  const isChosen =
    record.event_id === row.event_id &&
    record.site_id === site.siteId &&
    record.document_version_id === row.document_version_id;
  if (!isChosen || !isProofHashOf(row.record, row.proof_hash, key)) {
    throw new Error(`the read model's row of consent ${row.event_id} was altered: its proof hash does not fit`);
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

function isAskedFor(item: StatusItem, query: StatusQuery, now: number): boolean {
  return (
    (item.valid_until === null || Date.parse(item.valid_until) > now) &&
    (query.consent_type === undefined || item.consent_type === query.consent_type) &&
    (query.document_slug === undefined || item.document_slug === query.document_slug) &&
    (query.document_version_id === undefined || item.document_version_id === query.document_version_id)
  );
}
