import type * as z from 'zod';
import { CONSENT_LIMITS } from '../../../schemas/api/consent-limits.js';
import {
  BrowserConsentBatchRequest,
  BrowserConsentRequest,
  type ConsentRequest,
  S2sConsentBatchRequest,
  S2sConsentRequest,
} from '../../../schemas/api/consents.js';
import type { ErrorCode, FieldError } from '../../../schemas/api/error-codes.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import { schemaWords } from '../../../schemas/json/schema-words.js';
import { fieldErrors, RequestRefused } from '../../platform/errors.js';
import type { Channel } from '../../tenancy/directory/site-context.js';
import { type Attachment, attachmentsOf } from './attachments.js';
import { ignoredMembers } from './ignored-members.js';

/** A consent with valid shape and sizes. */
export interface ParsedConsent {
  readonly request: ConsentRequest;
  readonly attachments: readonly Attachment[];
  /** The item as received. */
  readonly source: JsonObject;
  /** Members that were ignored. */
  readonly warnings: readonly FieldError[];
}

/**
 * Parses the consents of a request.
 * @param json strictly parsed JSON
 * @returns one consent for `single`, 1 to 100 for `batch`
 * @throws RequestRefused VALIDATION_ERROR and the payload codes (docs/admission.md, step 11)
 */
export function parseConsents(json: JsonValue, shape: 'single' | 'batch', channel: Channel): ParsedConsent[] {
  if (shape === 'single') {
    const request = validated(channel === 's2s' ? S2sConsentRequest : BrowserConsentRequest, json, isCategories);
    return [parsed(request, objectOf(json), channel)];
  }
  const schema = channel === 's2s' ? S2sConsentBatchRequest : BrowserConsentBatchRequest;
  const batch: { readonly consents: readonly ConsentRequest[] } = validated(schema, json, isCategoriesOfItem);
  const { consents } = objectOf(json);
  const sources = Array.isArray(consents) ? consents : [];
  return batch.consents.map((request, index) => {
    try {
      return parsed(request, objectOf(sources[index]), channel);
    } catch (error) {
      throw error instanceof RequestRefused ? atItem(error, index) : error;
    }
  });
}

/**
 * @throws RequestRefused INVALID_CATEGORIES if only the categories are invalid, otherwise
 *   VALIDATION_ERROR
 */
function validated<T>(
  schema: z.ZodType<T>,
  value: unknown,
  isCategoriesPath: (path: readonly PropertyKey[]) => boolean = () => false,
): T {
  const result = schema.safeParse(value, { error: schemaWords });
  if (result.success) return result.data;
  const errors = fieldErrors(result.error);
  const code = result.error.issues.every(({ path }) => isCategoriesPath(path))
    ? 'INVALID_CATEGORIES'
    : 'VALIDATION_ERROR';
  throw new RequestRefused(code, undefined, { errors });
}

const isCategories = (path: readonly PropertyKey[]): boolean => path[0] === 'categories';
const isCategoriesOfItem = (path: readonly PropertyKey[]): boolean => path[2] === 'categories';

/**
 * Narrows the type for the compiler. The schema has already required an object; a change of the
 * schema fails here.
 */
function objectOf(json: JsonValue | undefined): JsonObject {
  if (json === null || typeof json !== 'object' || Array.isArray(json))
    throw new Error('a validated consent is no object');
  return json;
}

function parsed(request: ConsentRequest, source: JsonObject, channel: Channel): ParsedConsent {
  checkObject(request.metadata, CONSENT_LIMITS.metadataKeys, CONSENT_LIMITS.metadataBytes, [
    'METADATA_TOO_MANY_KEYS',
    'METADATA_TOO_LARGE',
  ]);
  checkObject(request.extra_fields, CONSENT_LIMITS.extraFieldsKeys, CONSENT_LIMITS.extraFieldsBytes, [
    'EXTRA_FIELDS_TOO_MANY_KEYS',
    'EXTRA_FIELDS_TOO_LARGE',
  ]);
  if (request.extra_fields != null) {
    for (const name of Object.keys(request.extra_fields)) {
      if (name.length > CONSENT_LIMITS.extraFieldName) throw new RequestRefused('EXTRA_FIELD_NAME_TOO_LONG');
    }
  }
  if (request.strokes_data != null && jsonBytes(request.strokes_data) > CONSENT_LIMITS.strokesBytes) {
    throw new RequestRefused('STROKES_DATA_TOO_LARGE');
  }
  return { request, attachments: attachmentsOf(request), source, warnings: ignoredMembers(source, channel) };
}

function checkObject(
  object: Record<string, unknown> | null | undefined,
  maxKeys: number,
  maxBytes: number,
  [tooMany, tooLarge]: readonly [ErrorCode, ErrorCode],
): void {
  if (object == null) return;
  if (Object.keys(object).length > maxKeys) throw new RequestRefused(tooMany);
  if (jsonBytes(object) > maxBytes) throw new RequestRefused(tooLarge);
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Names the item of a batch in the message and in the path of each invalid field. */
function atItem({ code, message, details }: RequestRefused, index: number): RequestRefused {
  const errors = details.errors?.map((error) => ({ ...error, field: `consents.${index}.${error.field}` }));
  return new RequestRefused(code, `consents.${index}: ${message}`, { ...details, ...(errors && { errors }) });
}
