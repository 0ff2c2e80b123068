import { S2sConsentRequest } from '../../../schemas/api/consents.js';
import { type AttachmentReference, disclosureDigest, SALT_BYTES } from '../../../schemas/evidence/disclosure.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import type { RandomPool } from '../../platform/keys/index.js';
import type { Attachment } from './attachments.js';

/**
 * Request fields that the record itself contains, and the secret that is never stored. Every other
 * field becomes a disclosure.
 */
const NOT_DISCLOSED: ReadonlySet<string> = new Set([
  'consent_type',
  'decision',
  'document_version_id',
  'language',
  'categories',
  'compliance_framework',
  'approval_token',
]);

/** Names that a disclosure can have; record exports select from them. */
export const DISCLOSABLE_FIELDS: readonly string[] = Object.keys(S2sConsentRequest.shape).filter(
  (name) => !NOT_DISCLOSED.has(name),
);

/**
 * Values that the service determined itself or that the tenant's backend vouched for. They replace
 * the values of the request.
 */
export type KnownValues = Readonly<Partial<Record<string, string | boolean>>>;

/**
 * Returns the personal fields of a consent: request values, known values and references to the
 * attachments.
 * @param names the fields that the schema of the request defines
 * @param source the request as received; a null value counts as absent
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
  /** The encoded disclosures as a JSON array, before encryption. */
  readonly json: string;
  /** The sorted digests of the disclosures: `_sd` of the record. */
  readonly digests: string[];
}

/**
 * Encodes disclosures as `encodeDisclosure` of the format does, at half its cost; a test compares
 * the two. This step is the largest single cost of admitting a consent.
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
