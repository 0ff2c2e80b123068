import { S2sConsentRequest } from '../../../schemas/api/consents.js';
import { type AttachmentReference, disclosureDigest, SALT_BYTES } from '../../../schemas/evidence/disclosure.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import type { RandomPool } from '../../platform/keys/index.js';
import type { Attachment } from './attachments.js';

/** Fields of the request that the record itself holds, and the secret that is never kept. Every other becomes a disclosure. */
const NOT_DISCLOSED: ReadonlySet<string> = new Set([
  'consent_type',
  'decision',
  'document_version_id',
  'language',
  'categories',
  'compliance_framework',
  'approval_token',
]);

/** Names that a disclosure may have: what exports can choose from. */
export const DISCLOSABLE_FIELDS: readonly string[] = Object.keys(S2sConsentRequest.shape).filter(
  (name) => !NOT_DISCLOSED.has(name),
);

/** What the service itself knows or was told by the tenant's backend: it stands in place of the request's own values. */
export type KnownValues = Readonly<Partial<Record<string, string | boolean>>>;

/**
 * The personal part of a consent by name: what the request said, what is known beside it, and references to its large contents.
 * @param names of the fields that the request's schema knows
 * @param source the request as it came; null values count as absent
 */
export function personalFields(
  names: readonly string[],
  source: JsonObject,
  known: KnownValues,
  attachments: readonly Attachment[],
): ReadonlyMap<string, JsonValue> {
  const fields = new Map<string, JsonValue>();
  for (const name of names) {
    const value = source[name];
    if (value != null && !NOT_DISCLOSED.has(name)) fields.set(name, value);
  }
  for (const [name, value] of Object.entries(known)) if (value !== undefined) fields.set(name, value);
  for (const { field, sha256, mediaType, content } of attachments) {
    fields.set(field, { sha256, media_type: mediaType, size: content.length } satisfies AttachmentReference);
  }
  return fields;
}

export interface EncodedDisclosures {
  /** The strings that travel, as a JSON array: what is encrypted. */
  readonly json: string;
  /** Their digests, sorted: `_sd` of the record. */
  readonly digests: string[];
}

/**
 * Encodes disclosures exactly as `encodeDisclosure` of the format does (a test compares them), at half its cost: this is the largest single item
 * of admitting a consent.
 */
export function encodeDisclosures(fields: ReadonlyMap<string, JsonValue>, random: RandomPool): EncodedDisclosures {
  const digests: string[] = [];
  let json = '';
  for (const [name, value] of fields) {
    const salt = random.take(SALT_BYTES).toString('base64url');
    const encoded = Buffer.from(`["${salt}",${JSON.stringify(name)},${JSON.stringify(value)}]`).toString('base64url');
    digests.push(disclosureDigest(encoded));
    json += json === '' ? `["${encoded}"` : `,"${encoded}"`;
  }
  return { json: json === '' ? '[]' : `${json}]`, digests: digests.sort() };
}
