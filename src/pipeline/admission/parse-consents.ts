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
import type { SCOPES } from '../../../schemas/events/consent-recorded.js';
import { decidableServices, type SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import { schemaWords } from '../../../schemas/json/schema-words.js';
import { OBJECTION_TYPE, OPT_OUT_TYPE } from '../../../schemas/law/acts.js';
import { fieldErrors, RequestRefused } from '../../platform/errors.js';
import type { ActiveVersion, Channel, SiteContext } from '../../tenancy/directory/site-context.js';
import { type Attachment, attachmentsOf } from './attachments.js';

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

const ANSWERS: readonly unknown[] = ['categories', 'services'];
const isCategories = (path: readonly PropertyKey[]): boolean => ANSWERS.includes(path[0]);
const isCategoriesOfItem = (path: readonly PropertyKey[]): boolean => ANSWERS.includes(path[2]);

/** Narrows the type for the compiler. The schema already requires an object; if the schema changes, this throws. */
function objectOf(json: JsonValue | undefined): JsonObject {
  if (json === null || typeof json !== 'object' || Array.isArray(json))
    throw new Error('a validated consent is no object');
  return json;
}

function parsed(request: ConsentRequest, source: JsonObject, channel: Channel): ParsedConsent {
  const errors = [
    ...(request.consent_type === OBJECTION_TYPE ? objectionErrors(request) : []),
    ...(request.approval_token != null && request.person_token != null ? [TWO_TOKENS] : []),
  ];
  if (errors.length > 0) throw new RequestRefused('VALIDATION_ERROR', undefined, { errors });
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

/** The record names one token. */
const TWO_TOKENS: FieldError = {
  field: 'person_token',
  message: 'must be absent beside approval_token, which names the person already',
};

/** Returns the one-time token of a consent, or undefined if it has none. */
export function tokenIn({
  approval_token: approval,
  person_token: person,
}: Pick<ConsentRequest, 'approval_token' | 'person_token'>): string | undefined {
  return approval ?? person ?? undefined;
}

/**
 * Returns what makes an objection ambiguous: a reader who does not know the type must read it as a refusal, and one that
 * is taken back as nothing.
 */
function objectionErrors({ decision, categories, services }: ConsentRequest): readonly FieldError[] {
  if (decision === 'withdrawn')
    return Object.entries({ categories, services }).flatMap(([field, answers]) =>
      answers == null ? [] : [{ field, message: 'must be absent if an objection is taken back, which ends all of it' }],
    );
  if (decision !== 'rejected')
    return [{ field: 'decision', message: 'of an objection must be rejected, or withdrawn to take it back' }];
  if (Object.keys(categories ?? {}).length === 0)
    return [{ field: 'categories', message: 'must name what the person objects to, each as false' }];
  return Object.entries({ categories, services }).flatMap(([field, answers]) =>
    Object.entries(answers ?? {})
      .filter(([, isGranted]) => isGranted)
      .slice(0, MAX_WARNINGS)
      .map(([key]) => ({ field: `${field}.${key.slice(0, MAX_NAMED)}`, message: 'must be false in an objection' })),
  );
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

const NAMES = Object.keys(S2sConsentRequest.shape);
const KNOWN: Readonly<Record<Channel, ReadonlySet<string>>> = {
  browser: new Set(Object.keys(BrowserConsentRequest.shape)),
  s2s: new Set(NAMES),
};
const MAX_WARNINGS = 10;

/**
 * Returns warnings about members of a consent that were ignored, whose values the caller would miss. If a name is one
 * edit away from a known one, the warning suggests it; case is ignored, and `-` or no separator counts as `_`. If there
 * are very many, only the first are named.
 */
export function ignoredMembers(source: JsonObject, channel: Channel): readonly FieldError[] {
  return Object.keys(source)
    .filter((name) => !KNOWN[channel].has(name))
    .slice(0, MAX_WARNINGS)
    .map((field) =>
      KNOWN.s2s.has(field)
        ? { field, message: 'is read from backends only, and was ignored' }
        : { field, message: `is unknown and was ignored${suggestion(field, NAMES)}` },
    );
}

/** Consent types that the interface names. */
const TYPES: readonly string[] = ['cookie', 'document_approval', OPT_OUT_TYPE, OBJECTION_TYPE];

/** Returns the rule by which a caller asked, or null if it states none that the configuration in force has. */
export function knownRule(
  { rule_id: id }: Pick<ConsentRequest, 'rule_id'>,
  { rules = [] }: Pick<SiteConfigPublishedRecord, 'rules'>,
): string | null {
  return rules.find((rule) => rule.id === id)?.id ?? null;
}

type Scope = (typeof SCOPES)[number];

/**
 * Returns whose choice a consent is. It is that of the account only if the configuration in force has accounts and a
 * backend vouches for the person: by a person token, or as the caller. Anyone else can only speak for a device.
 */
export function scopeOf(
  { scope, person_token: token, visitor_id: visitor }: Pick<ConsentRequest, 'scope' | 'person_token' | 'visitor_id'>,
  { accounts }: Pick<SiteConfigPublishedRecord, 'accounts'>,
  channel: Channel,
): Scope {
  const isVouched = token != null || (channel === 's2s' && visitor != null);
  const stated = scope ?? (token == null ? 'device' : 'account');
  return accounts !== undefined && isVouched ? stated : 'device';
}

function ignoredScope(
  request: ConsentRequest,
  { record }: NonNullable<SiteContext['config']>,
  channel: Channel,
): readonly FieldError[] {
  if (request.scope !== 'account' || scopeOf(request, record, channel) === 'account') return [];
  const reason =
    record.accounts === undefined
      ? 'account counts only where the configuration in force has accounts'
      : channel === 's2s'
        ? 'account needs visitor_id or person_token, to name the person'
        : 'account needs a person_token, by which your backend vouches for the person';
  return [{ field: 'scope', message: `${reason}: recorded as the choice of the device` }];
}

/**
 * Names the values of an admissible consent that the site does not know or that do not count: categories, services, a
 * rule and a scope, which were ignored, and a type of consent.
 */
export function unknownValues(
  request: ConsentRequest,
  config: NonNullable<SiteContext['config']>,
  { kind, slug }: ActiveVersion,
  channel: Channel,
): readonly FieldError[] {
  const { categories, services, consent_type: type, rule_id: rule } = request;
  const keys = config.record.categories.map(({ key }) => key);
  const types = [...TYPES, kind, slug];
  return [
    ...ignoredKeys(categories, keys, 'categories', 'is no category of the configuration'),
    ...ignoredKeys(
      services,
      decidableServices(config.record),
      'services',
      config.record.service_switches === true
        ? 'is no service of the configuration'
        : 'cannot be decided on, because the site has no switches for services',
    ),
    ...(rule == null || knownRule(request, config.record) !== null
      ? []
      : [{ field: 'rule_id', message: 'is no rule of the configuration in force, and was ignored' }]),
    ...ignoredScope(request, config, channel),
    ...(types.includes(type)
      ? []
      : [
          {
            field: 'consent_type',
            message: `is none of ${TYPES.join(', ')}, and was recorded as it is${suggestion(type, TYPES)}`,
          },
        ]),
  ];
}

/** Longest name of an unknown category or service that a warning repeats. */
const MAX_NAMED = 100;

function ignoredKeys(
  answers: ConsentRequest['categories'],
  known: readonly string[],
  member: string,
  reason: string,
): readonly FieldError[] {
  const names = new Set(known);
  return Object.keys(answers ?? {})
    .filter((key) => !names.has(key))
    .slice(0, MAX_WARNINGS)
    .map((key) => ({
      field: `${member}.${key.slice(0, MAX_NAMED)}`,
      message: `${reason}, and was ignored${suggestion(key, known)}`,
    }));
}

function suggestion(name: string, known: readonly string[]): string {
  const meant = known.find((other) => isNear(name, other));
  return meant === undefined ? '' : `: did you mean ${meant}?`;
}

function isNear(name: string, known: string): boolean {
  if (Math.abs(name.length - known.length) > 3) return false;
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[-_]/g, '');
  return isOneEdit(plain(name), plain(known));
}

/** Whether two texts are equal or differ by one inserted, removed, replaced or exchanged character. */
function isOneEdit(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}
