import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { z } from 'zod';
import { MAX_STATUS_ITEMS, StatusItem, StatusQuery, type StatusResponse } from '../../../../schemas/api/status.js';
import { consentToken } from '../../../../schemas/events/consent-recorded.js';
import type { SiteContext } from '../../../catalogue/site-context.js';
import { blindIndex } from '../../../keys/index.js';
import { callerOf } from '../../caller.js';
import type { ToolGuards } from '../../guards/tool-guard.js';
import { validate } from '../../json-body.js';

/** GET /tool/v1/consents/status: the consents in force of one visitor, the newest first. */
export function getStatus(tool: FastifyInstance, guards: ToolGuards, pool: pg.Pool): void {
  tool.get('/consents/status', { onRequest: guards.read }, async (request): Promise<StatusResponse> => {
    const query = validate(StatusQuery, request.query);
    return { data: { consents: await consentsInForce(pool, callerOf(request).site, query) } };
  });
}

// Without its key row a record belongs to nobody: an erased one is never found.
const STATUS_SQL = `
select c.event_id, c.proof_hash, c.consent_type, c.decision, c.categories, c.language, d.slug, c.document_version_id,
       c.compliance_framework, c.created_at, c.valid_until
  from record_keys k
  join read_model.consents c on c.event_id = k.event_id and c.site_id = k.site_id
  left join document_versions v on v.id = c.document_version_id and v.site_id = c.site_id
  left join documents d on d.id = v.document_id
 where k.site_id = $1 and k.visitor_index = $2 and c.erased_by is null
   and (c.valid_until is null or c.valid_until > now())
   and ($3::text is null or c.consent_type = $3)
   and ($4::text is null or d.slug = $4)
   and ($5::uuid is null or c.document_version_id = $5)
 order by c.revision desc
 limit $6`;

const StatusRow = z
  .object({
    event_id: z.string(),
    proof_hash: z.string(),
    consent_type: z.string(),
    decision: z.string(),
    categories: z.unknown(),
    language: z.string(),
    slug: z.string().nullable(),
    document_version_id: z.string(),
    compliance_framework: z.string().nullable(),
    created_at: z.date(),
    valid_until: z.date().nullable(),
  })
  .transform(({ event_id, slug, created_at, valid_until, ...row }) => ({
    ...row,
    id: event_id,
    consent_token: consentToken(event_id),
    document_slug: slug,
    created_at: created_at.toISOString(),
    valid_until: valid_until?.toISOString() ?? null,
  }))
  .pipe(StatusItem);

async function consentsInForce(pool: pg.Pool, site: SiteContext, query: StatusQuery): Promise<StatusItem[]> {
  const { rows } = await pool.query({
    name: 'consent_status',
    text: STATUS_SQL,
    values: [
      site.siteId,
      blindIndex(site.siteKey, 'visitor', query.visitor_id),
      query.consent_type ?? null,
      query.document_slug ?? null,
      query.document_version_id ?? null,
      MAX_STATUS_ITEMS,
    ],
  });
  return z.array(StatusRow).parse(rows);
}
