import { IMPORT_CHANNEL, type ImportedConsent, type ImportOrigin } from '../../../schemas/events/consent-imported.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import { hmacSha256, type RandomPool } from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { personalFields } from '../admission/disclosures.js';
import type { SiteConfig } from '../admission/evaluate.js';
import { commonMembers, type PreparedRecord, prepareRecord, validUntil } from '../admission/prepare-consent.js';
import type { StatedConsent } from './map-row.js';

/** 128 bits: two rows of one site practically never collide, and the index has half the size. */
const DIGEST_BYTES = 16;

export interface ImportOptions {
  readonly site: SiteContext;
  readonly config: SiteConfig;
  readonly origin: Omit<ImportOrigin, 'claimed_at'>;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Returns the digest by which a row is imported once: of the record at the tool, its time and its decision,
 * or of the file and the place in it where the mapping names no id. It is keyed, because ids of records are
 * kept in the cookies of visitors.
 */
export function rowDigest(
  site: Pick<SiteContext, 'siteKey'>,
  row: StatedConsent,
  origin: ImportOptions['origin'],
): Buffer {
  const { recordId, claimedAt, consent } = row;
  const { consent_type: type, decision } = consent.request;
  const identity =
    recordId === null
      ? ['row', origin.file_sha256, origin.row]
      : ['record', origin.tool, recordId, claimedAt, type, decision];
  return hmacSha256(site.siteKey, `import\0${canonicalJson(identity)}`).subarray(0, DIGEST_BYTES);
}

/** Creates the event of an imported consent, and the row of its key. */
export function prepareImport(row: StatedConsent, options: ImportOptions, random: RandomPool): PreparedRecord {
  const { site, now } = options;
  const { consent, recordId } = row;
  const known = recordId === null ? {} : { source_record_id: recordId };
  const fields = personalFields(Object.keys(consent.request), consent.source, known, []);
  return prepareRecord(
    {
      ...{ site, fields, attachments: [], now },
      textOf: (eventId, digests) => canonicalJson({ ...recordOf(row, options, eventId), disclosures: digests }),
    },
    random,
  );
}

function recordOf(
  { consent, version, claimedAt, validUntil: statedEnd }: StatedConsent,
  { site, config, origin, now }: ImportOptions,
  eventId: string,
): Omit<ImportedConsent, 'disclosures'> {
  const end = validUntil(claimedAt, config.record.validity_days);
  const stated = statedEnd === null ? null : new Date(statedEnd).toISOString();
  return {
    ...commonMembers({ request: consent.request, version, config, site, now }, eventId),
    valid_until: end === null || (stated !== null && stated < end) ? stated : end,
    channel: IMPORT_CHANNEL,
    api_key_id: null,
    identity_assurance: null,
    approval_token_id: null,
    vouched: [],
    import: { claimed_at: new Date(claimedAt).toISOString(), ...origin },
  };
}
