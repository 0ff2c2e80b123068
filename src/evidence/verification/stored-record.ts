import * as z from 'zod';
import { originOf, type SealedConsent } from '../../../schemas/events/consent-imported.js';
import { eventIdOfConsentToken } from '../../../schemas/events/consent-recorded.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { StatedPlace } from './logged-record.js';

/** The identifier that a record is looked up by. */
export type RecordIdentifier = { readonly eventId: string } | { readonly proofHash: string };

/**
 * Parses an identifier.
 * @param text a UUID, a token or a proof hash
 * @param tokenOf reads a token: `eventIdOfTestToken` for test records, whose tokens name no record of a site
 * @returns null for any other text
 */
export function parseIdentifier(text: string, tokenOf = eventIdOfConsentToken): RecordIdentifier | null {
  const lower = text.trim().toLowerCase();
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(lower)) return { eventId: lower };
  if (/^[0-9a-f]{64}$/.test(lower)) return { proofHash: lower };
  const eventId = tokenOf(lower);
  return eventId === null ? null : { eventId };
}

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
 * The time that a former tool states, in `read_model.consents c`. The read model of an earlier version, which serves
 * until the new one is built, has no such column.
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
 * Looks up the position of a record.
 * @param tenantId limits the search to the records of this tenant; null permits all tenants
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
 * @param tenantId tenant of the record; null permits any tenant
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

/** Columns of the read model that are copies of members of the record. */
export type CopiedColumns = Pick<
  StoredRecord,
  | 'event_id'
  | 'site_id'
  | 'consent_type'
  | 'decision'
  | 'categories'
  | 'language'
  | 'document_version_id'
  | 'compliance_framework'
  | 'created_at'
  | 'valid_until'
  | 'claimed_at'
  | 'channel'
  | 'approval_token_id'
>;

/** Returns whether every column of the read model equals the record. The columns are copies that the panel shows. */
export function columnsAgree(stored: CopiedColumns, record: SealedConsent): boolean {
  return (
    stored.event_id === record.event_id &&
    stored.site_id === record.site_id &&
    stored.consent_type === record.consent_type &&
    stored.decision === record.decision &&
    sameCategories(stored.categories, record.categories) &&
    stored.language === record.language &&
    stored.document_version_id === record.document_version_id &&
    stored.compliance_framework === record.compliance_framework &&
    stored.created_at.toISOString() === record.created_at &&
    (stored.valid_until?.toISOString() ?? null) === record.valid_until &&
    (stored.claimed_at?.toISOString() ?? null) === (originOf(record)?.claimed_at ?? null) &&
    stored.channel === record.channel &&
    stored.approval_token_id === record.approval_token_id
  );
}

function sameCategories(stored: unknown, categories: SealedConsent['categories']): boolean {
  if (categories === null || stored === null || typeof stored !== 'object') return stored === categories;
  const entries = Object.entries(stored);
  return (
    entries.length === Object.keys(categories).length && entries.every(([name, value]) => categories[name] === value)
  );
}

/**
 * Returns whether the stored erasure data is consistent: the key is missing if and only if the record is erased, and a
 * queued announcement is known. The read model may lag.
 */
export function erasureAgrees(stored: StoredRecord): boolean {
  const { is_erased: isErased, erasure_event_id: announcement } = stored;
  if (stored.has_key === isErased || (announcement !== null && !stored.is_erasure_known)) return false;
  return isErased || stored.erased_by === null;
}
