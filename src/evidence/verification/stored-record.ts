import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import type { RecordIdentifier } from './identifier.js';
import type { StatedPlace } from './logged-record.js';

/** A row of the read model `consents`. */
export const ConsentReadModelRow = z.object({
  event_id: z.string(),
  site_id: z.string(),
  revision: z.int(),
  /** Hexadecimal. */
  proof_hash: z.string(),
  consent_type: z.string(),
  decision: z.string(),
  categories: z.unknown(),
  language: z.string(),
  document_version_id: z.string(),
  compliance_framework: z.string().nullable(),
  created_at: z.date(),
  valid_until: z.date().nullable(),
  claimed_at: z.date().nullable(),
  channel: z.string(),
  approval_token_id: z.string().nullable(),
  erased_by: z.int().nullable(),
});

const StatedPlaceRow = ConsentReadModelRow.pick({ event_id: true, site_id: true, revision: true });

/**
 * The time that a former tool states, of `read_model.consents c`. The read model of an earlier version has no such
 * column, and answers until the new one is built.
 */
export const CLAIMED_AT = "(to_jsonb(c) ->> 'claimed_at')::timestamptz";

/** The columns of `ConsentReadModelRow`, of `read_model.consents c`. */
export const CONSENT_READ_MODEL_COLUMNS = `c.event_id, c.site_id, c.revision, encode(c.proof_hash, 'hex') as proof_hash, c.consent_type,
  c.decision, c.categories, c.language, c.document_version_id, c.compliance_framework, c.created_at, c.valid_until,
  ${CLAIMED_AT} as claimed_at, c.channel,
  c.approval_token_id, c.erased_by`;

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
select ${CONSENT_READ_MODEL_COLUMNS}, s.tenant_id,
       exists (select from record_keys k where k.event_id = c.event_id and k.site_id = c.site_id) as has_key,
       e.event_id is not null as is_erased, e.erasure_event_id,
       exists (select from erasure_events x where x.event_id = e.erasure_event_id) as is_erasure_known
  from read_model.consents c
  join sites s on s.id = c.site_id
  left join erased_records e on e.event_id = c.event_id`;

/**
 * Looks up the place of a record.
 * @param tenantId limits the search to the records of this tenant; null: all tenants
 * @returns null if there is no record, or more than one
 */
export async function findRecordPlace(
  db: Queryable,
  identifier: RecordIdentifier,
  tenantId: string | null,
): Promise<StatedPlace | null> {
  const [column, value] =
    'eventId' in identifier
      ? ['c.event_id', identifier.eventId]
      : ['c.proof_hash', Buffer.from(identifier.proofHash, 'hex')];
  const { rows } = await db.query({
    name: `place by ${column}`,
    text: `select c.event_id, c.site_id, c.revision from read_model.consents c join sites s on s.id = c.site_id
            where ${column} = $1 and ($2::uuid is null or s.tenant_id = $2::uuid) limit 2`,
    values: [value, tenantId],
  });
  const found = z.array(StatedPlaceRow).parse(rows);
  const [place] = found;
  return place === undefined || found.length > 1 ? null : place;
}

/**
 * Reads a record of the read model.
 * @param tenantId of the record; null: any
 * @returns null if there is no such record
 */
export async function readStoredRecord(
  db: Queryable,
  eventId: string,
  tenantId: string | null,
): Promise<StoredRecord | null> {
  const { rows } = await db.query({
    name: 'stored record',
    text: `${STORED_RECORD_SQL} where c.event_id = $1 and ($2::uuid is null or s.tenant_id = $2::uuid)`,
    values: [eventId, tenantId],
  });
  return z.array(StoredRecordRow).max(1).parse(rows)[0] ?? null;
}
