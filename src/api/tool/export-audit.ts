import type { ExportQuery } from '../../../schemas/api/export.js';
import { appendAuditEntry } from '../../platform/audit-log.js';
import type { Queryable } from '../../platform/database/pool.js';
import { type ToolCaller, userOf } from '../server/caller.js';

/** Members of the query that are no filter. */
const NOT_FILTERS: ReadonlySet<string> = new Set(['limit', 'cursor', 'format', 'fields', 'excel']);

/**
 * Writes an audit entry before personal data of a site is sent: one for each page, or stream. It names
 * the user and the fields of the filter, and never the persons.
 */
export async function noteExport(db: Queryable, caller: ToolCaller, query: ExportQuery): Promise<void> {
  const { site, apiKey } = caller;
  await appendAuditEntry(db, {
    tenantId: site.tenantId,
    actor: { kind: 'user', userId: userOf(caller).id },
    action: 'consent.export',
    subject: { kind: 'site', id: site.siteId },
    details: {
      filter: Object.keys(query).filter((name) => !NOT_FILTERS.has(name)),
      disclosed: true,
      ...(query.fields !== undefined && { fields: query.fields }),
      api_key_id: apiKey.id,
    },
  });
}
