import { InputTime } from '../../../schemas/api/common.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import { RequestRefused } from '../../platform/errors/request-refused.js';
import { contradictoryCategories, type SiteConfig } from '../admission/evaluate.js';
import { type ParsedConsent, parseConsents } from '../admission/parse-consents.js';
import { type Choice, type Field, FROM_CATEGORIES, type Mapping, type Time } from './mapping.js';
import type { ImportVersion } from './versions.js';

/** Why a row is wrong. It contains nothing of the row but names of columns. */
export interface RowProblem {
  readonly column: string;
  readonly reason: string;
}

/** A consent as a row states it. */
export interface StatedConsent {
  readonly consent: ParsedConsent;
  readonly version: ImportVersion;
  /** Unix milliseconds. */
  readonly claimedAt: number;
  /** As the row states it, in Unix milliseconds; null: it states none. */
  readonly validUntil: number | null;
  /** Id of the record at the tool; null: none is mapped. */
  readonly recordId: string | null;
}

export type MappedRow =
  | { readonly isRight: true; readonly stated: StatedConsent }
  | { readonly isRight: false; readonly problems: readonly RowProblem[] };

/** State of the site by which rows are read. */
export interface MapContext {
  readonly mapping: Mapping;
  readonly config: SiteConfig;
  /** Published versions of the site, by id. */
  readonly versions: ReadonlyMap<string, ImportVersion>;
  /** Unix milliseconds. */
  readonly now: number;
}

/** Longest id of a record, in characters. */
const MAX_RECORD_ID = 200;

class WrongValue extends Error {
  constructor(
    readonly column: string,
    readonly reason: string,
  ) {
    super(reason);
  }
}

/**
 * Reads the consent that a row states. All values have the limits of a consent that a backend sends,
 * and the same reader checks them.
 */
export function mapRow(values: JsonObject, context: MapContext): MappedRow {
  const problems: RowProblem[] = [];
  const attempt = <T>(read: () => T): T | null => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof WrongValue)) throw error;
      problems.push({ column: error.column, reason: error.reason });
      return null;
    }
  };
  const { mapping, now } = context;
  const claimedAt = attempt(() => required(timeOf(values, mapping.claimed_at), mapping.claimed_at.column));
  if (claimedAt !== null && claimedAt > now)
    problems.push({ column: mapping.claimed_at.column, reason: 'is after the import' });
  const end = mapping.valid_until;
  const validUntil = end === undefined ? null : attempt(() => timeOf(values, end));
  if (claimedAt !== null && validUntil !== null && end !== undefined && validUntil < claimedAt)
    problems.push({ column: end.column, reason: 'is before the time of the consent' });
  const recordId = attempt(() => recordIdOf(values, mapping));
  const version = attempt(() => versionOf(values, context));
  const consent = attempt(() => consentOf(values, context, attempt));
  if (consent !== null) problems.push(...rulesBroken(consent, version, context));
  if (problems.length > 0 || claimedAt === null || consent === null || version === null)
    return { isRight: false, problems };
  return { isRight: true, stated: { consent, version, claimedAt, validUntil, recordId } };
}

function consentOf(
  values: JsonObject,
  context: MapContext,
  attempt: <T>(read: () => T) => T | null,
): ParsedConsent | null {
  const { mapping } = context;
  const texts = (fields: Readonly<Record<string, Field>>): JsonObject =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, field]) => {
        const text = attempt(() => textOf(values, field));
        return text === null ? [] : [[name, text]];
      }),
    );
  const categories = mapping.categories === undefined ? null : categoriesOf(values, mapping.categories, attempt);
  const { decision: stated, consent_type, document_version_id, compliance_framework } = mapping;
  const request: JsonObject = {
    ...texts({
      consent_type,
      document_version_id,
      ...(compliance_framework !== undefined && { compliance_framework }),
    }),
    ...texts(mapping.person),
    ...(stated === FROM_CATEGORIES
      ? { decision: decisionOf(categories ?? {}, context.config) }
      : texts({ decision: stated })),
    ...(categories !== null && { categories }),
  };
  const metadata = texts(mapping.metadata);
  if (Object.keys(metadata).length > 0) request.metadata = metadata;
  return attempt(() => parsed(request, mapping));
}

function parsed(request: JsonObject, mapping: Mapping): ParsedConsent {
  try {
    const [consent] = parseConsents(request, 'single', 's2s');
    if (consent === undefined) throw new Error('a request with one consent has none');
    return consent;
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    const [first] = error.details.errors ?? [];
    throw new WrongValue(columnOf(first?.field ?? '', mapping), first?.message ?? error.message);
  }
}

/** The column that a field of the request comes from. */
function columnOf(path: string, mapping: Mapping): string {
  const [name = '', key = ''] = path.split('.');
  const { consent_type, decision, document_version_id, compliance_framework, categories, person, metadata } = mapping;
  const fields: Readonly<Record<string, unknown>> = {
    ...{ consent_type, decision, document_version_id, compliance_framework, ...person },
    ...(name === 'categories' && { categories: categories?.[key] }),
    ...(name === 'metadata' && { metadata: metadata[key] }),
  };
  const field = fields[name];
  const isColumn = typeof field === 'object' && field !== null && 'column' in field;
  return isColumn && typeof field.column === 'string' ? field.column : path;
}

function rulesBroken(
  { request }: ParsedConsent,
  version: ImportVersion | null,
  { config, mapping }: MapContext,
): readonly RowProblem[] {
  const problems = contradictoryCategories(request, config).map(({ field, message }) => ({
    column: columnOf(field, mapping),
    reason: message,
  }));
  if (request.consent_type === 'cookie' && version !== null && version.kind !== 'cookie_policy')
    return [
      ...problems,
      { column: columnOf('document_version_id', mapping), reason: 'is not of a cookie_policy document' },
    ];
  return problems;
}

function versionOf(values: JsonObject, { mapping, versions }: MapContext): ImportVersion {
  const field = mapping.document_version_id;
  const column = 'column' in field ? field.column : 'document_version_id';
  const version = versions.get(required(textOf(values, field), column).toLowerCase());
  if (version === undefined) throw new WrongValue(column, 'is not a published document version of this site');
  return version;
}

function recordIdOf(values: JsonObject, { record_id: field }: Mapping): string | null {
  if (field === undefined) return null;
  const id = required(textOf(values, field), field.column);
  if (id.length > MAX_RECORD_ID) throw new WrongValue(field.column, `has more than ${MAX_RECORD_ID} characters`);
  return id;
}

/** The decision that follows from the optional categories. */
function decisionOf(categories: JsonObject, { record }: SiteConfig): string {
  const optional = record.categories.filter(({ key, required }) => !required && Object.hasOwn(categories, key));
  const accepted = optional.filter(({ key }) => categories[key] === true).length;
  if (accepted === 0) return 'rejected';
  return accepted === optional.length ? 'accepted' : 'partial';
}

function categoriesOf(
  values: JsonObject,
  choices: Readonly<Record<string, Choice>>,
  attempt: <T>(read: () => T) => T | null,
): JsonObject {
  return Object.fromEntries(
    Object.entries(choices).flatMap(([key, choice]) => {
      const is = attempt(() => choiceOf(values, choice));
      return is === null ? [] : [[key, is]];
    }),
  );
}

function choiceOf(values: JsonObject, choice: Choice): boolean | null {
  if ('value' in choice) return choice.value;
  const { column } = choice;
  const value = valueAt(values, column);
  if ('contains' in choice) return listOf(value, column).some((item) => asText(item) === choice.contains);
  const found = 'member' in choice ? memberOf(value, choice) : value;
  const text = asText(found);
  if (text === null || text === '') return choice.default ?? null;
  // Tools write true, True and TRUE.
  const known = Object.entries(choice.values).find(([name]) => name.toLowerCase() === text.toLowerCase());
  if (known !== undefined) return known[1];
  if (choice.default !== undefined) return choice.default;
  throw new WrongValue(column, 'has a value that `values` of the mapping does not name');
}

function memberOf(value: JsonValue, choice: Extract<Choice, { readonly member: string }>): JsonValue {
  const found = listOf(value, choice.column).find(
    (item) => isObject(item) && asText(valueAt(item, choice.id)) === choice.is,
  );
  return found !== undefined && isObject(found) ? valueAt(found, choice.member) : null;
}

function listOf(value: JsonValue, column: string): readonly JsonValue[] {
  if (value === null || value === '') return [];
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return value.split(',').map((item) => item.trim());
  throw new WrongValue(column, 'is not a list');
}

/** @returns null: the row has no text there */
function textOf(values: JsonObject, field: Field): string | null {
  if ('value' in field) return field.value;
  const { column, values: translated, default: otherwise } = field;
  const value = valueAt(values, column);
  if (isObject(value) || Array.isArray(value)) throw new WrongValue(column, 'is not a text');
  const text = asText(value);
  if (text === null || text === '') return otherwise ?? null;
  if (translated === undefined) return text;
  if (Object.hasOwn(translated, text)) return translated[text] ?? null;
  if (otherwise !== undefined) return otherwise;
  throw new WrongValue(column, 'has a value that `values` of the mapping does not name');
}

/** @returns Unix milliseconds; null: the row has no time there */
function timeOf(values: JsonObject, { column, format }: Time): number | null {
  const text = asText(valueAt(values, column));
  if (text === null || text === '') return null;
  if (format === 'unix' || format === 'unix_ms') {
    const time = Number(text) * (format === 'unix' ? 1_000 : 1);
    if (!/^\d{1,14}(?:\.\d{1,9})?$/.test(text) || !(time < 253_402_300_800_000))
      throw new WrongValue(column, 'is not a time since 1970');
    return Math.floor(time);
  }
  const parsed = InputTime.safeParse(format === 'iso_utc' ? withOffset(text) : text);
  if (!parsed.success) throw new WrongValue(column, parsed.error.issues[0]?.message ?? 'is not a time');
  return Date.parse(parsed.data);
}

/** A time without an offset is in UTC. More digits than microseconds have no meaning here. */
function withOffset(text: string): string {
  const time = text
    .trim()
    .replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T')
    .replace(/(\.\d{3})\d+/, '$1');
  return /(?:Z|[+-]\d{2}:?\d{2})$/i.test(time) ? time : `${time}Z`;
}

function required<T>(value: T | null, column: string): T {
  if (value === null) throw new WrongValue(column, 'is missing');
  return value;
}

/** The value of a column: the member of this name, or the one at the end of this path. */
function valueAt(values: JsonObject, column: string): JsonValue {
  if (Object.hasOwn(values, column)) return values[column] ?? null;
  let value: JsonValue = values;
  for (const name of column.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return null;
    value = value[name] ?? null;
  }
  return value;
}

function asText(value: JsonValue): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
