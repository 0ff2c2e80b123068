import { originOf, type SealedConsent } from '../../../schemas/events/consent-imported.js';
import type { StoredRecord } from './stored-record.js';

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

/**
 * Whether every column of the read model equals the record. The columns are copies, and the panel
 * shows them.
 */
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
 * Whether the stored erasure data is consistent: the key is missing exactly if the record is erased,
 * and its announcement, if it is queued, is known. The read model may lag.
 */
export function erasureAgrees(stored: StoredRecord): boolean {
  const { is_erased: isErased, erasure_event_id: announcement } = stored;
  if (stored.has_key === isErased || (announcement !== null && !stored.is_erasure_known)) return false;
  return isErased || stored.erased_by === null;
}
