import { z } from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import type { RecordIdentifier } from './identifier.js';

/** A row of the read model `consents`. */
export const ConsentReadModelRow = z.object({
  event_id: z.string(),
  site_id: z.string(),
  stream: z.string(),
  revision: z.int(),
  record: z.string(),
  proof_hash: z.string(),
  consent_type: z.string(),
  decision: z.string(),
  categories: z.unknown(),
  language: z.string(),
  document_version_id: z.string(),
  compliance_framework: z.string().nullable(),
  created_at: z.date(),
  valid_until: z.date().nullable(),
  channel: z.string(),
  erased_by: z.int().nullable(),
});

const StoredRecordRow = ConsentReadModelRow.extend({
  tenant_id: z.string(),
  has_key: z.boolean(),
  is_erased: z.boolean(),
  erasure_event_id: z.string().nullable(),
  is_erasure_known: z.boolean(),
});

/**
 * A row of the read model `consents`, with the stored data on its site and its erasure. None of it
 * is verified yet.
 */
export type StoredRecord = z.infer<typeof StoredRecordRow>;

const STORED_RECORD_SQL = `
select c.event_id, c.site_id, c.stream, c.revision, c.record, c.proof_hash, c.consent_type, c.decision, c.categories, c.language,
       c.document_version_id, c.compliance_framework, c.created_at, c.valid_until, c.channel, c.erased_by, s.tenant_id,
       exists (select from record_keys k where k.event_id = c.event_id and k.site_id = c.site_id) as has_key,
       e.event_id is not null as is_erased, e.erasure_event_id,
       exists (select from erasure_events x where x.event_id = e.erasure_event_id) as is_erasure_known
  from read_model.consents c
  join sites s on s.id = c.site_id
  left join erased_records e on e.event_id = c.event_id`;

/**
 * Looks up a record.
 * @param tenantId limits the search to the records of this tenant; null: all tenants
 * @returns null if there is no record, or more than one
 */
export async function findStoredRecord(
  db: Queryable,
  identifier: RecordIdentifier,
  tenantId: string | null,
): Promise<StoredRecord | null> {
  const [column, value] =
    'eventId' in identifier ? ['c.event_id', identifier.eventId] : ['c.proof_hash', identifier.proofHash];
  const { rows } = await db.query({
    name: `record by ${column}`,
    text: `${STORED_RECORD_SQL} where ${column} = $1 and ($2::uuid is null or s.tenant_id = $2::uuid) limit 2`,
    values: [value, tenantId],
  });
  const found = z.array(StoredRecordRow).parse(rows);
  const [record] = found;
  return record === undefined || found.length > 1 ? null : record;
}
