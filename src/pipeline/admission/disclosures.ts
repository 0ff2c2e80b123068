import { disclosureJson, keptLine } from '../../../schemas/events/kept-disclosures.js';
import { DISCLOSURE_NAMES, type DisclosureName, isDisclosureName } from '../../../schemas/evidence/disclosed-values.js';
import { type AttachmentReference, disclosureDigest, SALT_BYTES } from '../../../schemas/evidence/disclosure.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import type { RandomPool } from '../../platform/keys/index.js';
import type { Attachment } from './attachments.js';

/**
 * Values that the service determined itself or that the tenant's backend vouched for. They replace
 * the values of the request.
 */
export type KnownValues = Readonly<Partial<Record<DisclosureName, string | boolean>>>;

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
): ReadonlyMap<DisclosureName, JsonValue> {
  const fields = new Map<DisclosureName, JsonValue>();
  // The other fields are in the record itself, except the approval token, which is never stored.
  for (const name of names) {
    const value = source[name];
    if (value != null && isDisclosureName(name)) fields.set(name, value);
  }
  for (const name of DISCLOSURE_NAMES) {
    const value = known[name];
    if (value !== undefined) fields.set(name, value);
  }
  for (const { field, sha256, mediaType, content } of attachments) {
    fields.set(field, { sha256, media_type: mediaType, size: content.length } satisfies AttachmentReference);
  }
  return fields;
}

export interface EncodedDisclosures {
  /** Text that the event stores, before encryption (`disclosuresOf`). */
  readonly kept: string;
  /** The digests of the disclosures by name: `disclosures` of the record. */
  readonly digests: Partial<Record<DisclosureName, string>>;
}

/**
 * Encodes disclosures as `encodeDisclosure` of the format does, at half its cost; a test compares
 * the two. This step is the largest single cost of admitting a consent.
 */
export function encodeDisclosures(
  fields: ReadonlyMap<DisclosureName, JsonValue>,
  random: RandomPool,
): EncodedDisclosures {
  const digests: EncodedDisclosures['digests'] = {};
  let kept = '';
  for (const name of DISCLOSURE_NAMES) {
    const value = fields.get(name);
    if (value === undefined) continue;
    const salt = random.take(SALT_BYTES).toString('base64url');
    const json = JSON.stringify(value);
    digests[name] = disclosureDigest(Buffer.from(disclosureJson(salt, name, json)).toString('base64url'));
    kept += `${kept === '' ? '' : '\n'}${keptLine(salt, json)}`;
  }
  return { kept, digests };
}
