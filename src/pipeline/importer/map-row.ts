import { InputTime } from '../../../schemas/api/common.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import { RequestRefused } from '../../platform/errors.js';
import { contradictoryCategories, type SiteConfig } from '../admission/evaluate.js';
import { type ParsedConsent, parseConsents } from '../admission/parse-consents.js';
import { type Choice, type Field, FROM_CATEGORIES, isStorable, type Mapping, type Time } from './mapping.js';
import type { ImportVersion } from './versions.js';

/** Why a row is invalid. The text names columns of the row, and contains none of its values. */
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
  /** The time that the row states, in Unix milliseconds, or null if it states none. */
  readonly validUntil: number | null;
  /** Id of the record in the former tool, or null if none is mapped. */
  readonly recordId: string | null;
}

export type MappedRow =
  | { readonly isRight: true; readonly stated: StatedConsent }
  | { readonly isRight: false; readonly problems: readonly RowProblem[] };

/** State of the site with which rows are interpreted. */
export interface MapContext {
  readonly mapping: Mapping;
  readonly config: SiteConfig;
  /** Published versions of the site, by id. */
  readonly versions: ReadonlyMap<string, ImportVersion>;
  /** Unix milliseconds. */
  readonly now: number;
  /** The items that each list may have (`itemsOfLists`). */
  readonly items: ReadonlyMap<ListChoice, ReadonlySet<string>>;
  /** Receives each item of the mapping that a row has, as the mapping writes it. */
  readonly onItem?: (item: string) => void;
}

/** No tool recorded consents earlier than this. Such a time is in another unit, or not a time at all. */
const EARLIEST = Date.UTC(1995, 0, 1);

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
 * Reads the consent that a row states. All values have the same limits as in a consent from a backend, and the same
 * parser checks them.
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
  if (claimedAt !== null && claimedAt < EARLIEST)
    problems.push({
      column: mapping.claimed_at.column,
      reason: 'is before 1995: see whether `format` is right, unix for seconds and unix_ms for milliseconds',
    });
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
  const categories = mapping.categories === undefined ? null : categoriesOf(values, context, attempt);
  const { decision: stated, consent_type, document_version_id, compliance_framework } = mapping;
  const decision = stated === FROM_CATEGORIES ? attempt(() => decisionOf(categories ?? {}, context.config)) : null;
  if (stated === FROM_CATEGORIES && decision === null) return null;
  const request: JsonObject = {
    ...texts({
      consent_type,
      document_version_id,
      ...(compliance_framework !== undefined && { compliance_framework }),
    }),
    ...texts(mapping.person),
    ...(stated === FROM_CATEGORIES ? { decision } : texts({ decision: stated })),
    ...(categories !== null && { categories }),
  };
  const metadata = texts(mapping.metadata);
  if (Object.keys(metadata).length > 0) request.metadata = metadata;
  return attempt(() => parsed(request, mapping));
}

const NO_ADDRESS =
  'is no IPv4 or IPv6 address: write the masked part of an address as 0 (192.0.2.0), or leave the column out of the mapping';

function parsed(request: JsonObject, mapping: Mapping): ParsedConsent {
  try {
    const [consent] = parseConsents(request, 'single', 's2s');
    if (consent === undefined) throw new Error('a request with one consent has none');
    return consent;
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    const [first] = error.details.errors ?? [];
    const reason = first?.field === 'ip_address' ? NO_ADDRESS : (first?.message ?? error.message);
    throw new WrongValue(columnOf(first?.field ?? '', mapping), reason);
  }
}

/** The column that a field of the request comes from. */
function columnOf(path: string, mapping: Mapping): string {
  const [name = '', key = ''] = path.split('.');
  const { consent_type, decision, document_version_id, compliance_framework, categories, person, metadata } = mapping;
  const fields: Readonly<Record<string, unknown>> = {
    consent_type,
    decision,
    document_version_id,
    compliance_framework,
    ...person,
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

/**
 * Returns the decision that follows from the optional categories of the site. A category without an answer counts as
 * not accepted, but a row without any answer is not a refusal.
 */
function decisionOf(categories: JsonObject, { record }: SiteConfig): string {
  const optional = record.categories.filter(({ required }) => !required);
  if (!optional.some(({ key }) => Object.hasOwn(categories, key)))
    throw new WrongValue('categories', 'the row answers no optional category, so that no decision follows');
  const accepted = optional.filter(({ key }) => categories[key] === true).length;
  if (accepted === 0) return 'rejected';
  return accepted === optional.length ? 'accepted' : 'partial';
}

function categoriesOf(values: JsonObject, context: MapContext, attempt: <T>(read: () => T) => T | null): JsonObject {
  return Object.fromEntries(
    Object.entries(context.mapping.categories ?? {}).flatMap(([key, choice]) => {
      const is = attempt(() => choiceOf(values, choice, context));
      return is === null ? [] : [[key, is]];
    }),
  );
}

function choiceOf(values: JsonObject, choice: Choice, context: MapContext): boolean | null {
  if ('value' in choice) return choice.value;
  const { column } = choice;
  const value = valueAt(values, column);
  // If the list is missing altogether, the column name is wrong: that is not a refusal.
  if ('contains' in choice && !isThere(values, column)) throw new WrongValue(column, 'is missing');
  if ('contains' in choice) return itemOf(value, choice, choice.contains, context) !== undefined;
  const found = 'member' in choice ? memberOf(value, choice, context) : value;
  const text = asText(found);
  if (text === null || text === '') return choice.default ?? null;
  // Tools write true, True and TRUE.
  const known = Object.entries(choice.values).find(([name]) => name.toLowerCase() === text.toLowerCase());
  if (known !== undefined) return known[1];
  throw new WrongValue(column, 'has a value that `values` of the mapping does not name');
}

function memberOf(
  value: JsonValue,
  choice: Extract<Choice, { readonly member: string }>,
  context: MapContext,
): JsonValue {
  const found = itemOf(value, choice, choice.is, context);
  return found !== undefined && isObject(found) ? valueAt(found, choice.member) : null;
}

type ListChoice = Extract<Choice, { readonly separator: string }>;

/**
 * Returns whether a list has the item that a choice asks for. Unknown items make the row invalid: if lists are written
 * differently from what the mapping says, everyone would otherwise be recorded as having refused.
 */
function itemOf(value: JsonValue, choice: ListChoice, wanted: string, context: MapContext): JsonValue | undefined {
  const { column } = choice;
  const known = context.items.get(choice);
  let found: JsonValue | undefined;
  for (const item of listOf(value, choice)) {
    const stated = asText('id' in choice && isObject(item) ? valueAt(item, choice.id) : item);
    const text = stated === null ? null : formOf(stated, choice);
    if (text === null || known?.has(text) !== true)
      throw new WrongValue(
        column,
        'has an item that the mapping neither names nor ignores: compare `separator`, `case` and `ignore`',
      );
    if (text === formOf(wanted, choice)) found ??= item;
  }
  if (found !== undefined) context.onItem?.(wanted);
  return found;
}

/**
 * Returns the items that each list of a mapping may have: those that a choice of its column looks for or ignores. They
 * are the same for all rows.
 */
export function itemsOfLists(mapping: Mapping): MapContext['items'] {
  const choices = listChoices(mapping);
  return new Map(
    choices.map((choice) => {
      const known = choices
        .filter(({ column }) => column === choice.column)
        .flatMap((other) => [wantedBy(other), ...other.ignore]);
      return [choice, new Set(known.map((item) => formOf(item, choice)))];
    }),
  );
}

/** The form in which a list compares items. */
function formOf(item: string, choice: ListChoice): string {
  return choice.case === 'ignored' ? item.toLowerCase() : item;
}

/** The item that a choice looks for. */
export function wantedBy(choice: ListChoice): string {
  return 'contains' in choice ? choice.contains : choice.is;
}

/** The choices of a mapping that look into lists. */
export function listChoices({ categories }: Mapping): readonly ListChoice[] {
  return Object.values(categories ?? {}).filter((choice): choice is ListChoice => 'separator' in choice);
}

function listOf(value: JsonValue, { column, separator }: ListChoice): readonly JsonValue[] {
  if (value === null || value === '') return [];
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return value.split(separator).map((item) => item.trim());
  throw new WrongValue(column, 'is not a list');
}

/** @returns null if the row has no text there */
function textOf(values: JsonObject, field: Field): string | null {
  if ('value' in field) return field.value;
  const { column, values: translated, default: otherwise } = field;
  const value = valueAt(values, column);
  if (isObject(value) || Array.isArray(value)) throw new WrongValue(column, 'is not a text');
  const text = asText(value);
  if (text === null || text === '') return otherwise ?? null;
  if (!isStorable(text)) throw new WrongValue(column, 'contains U+0000');
  if (translated === undefined) return text;
  if (Object.hasOwn(translated, text)) return translated[text] ?? null;
  throw new WrongValue(column, 'has a value that `values` of the mapping does not name');
}

/** @returns Unix milliseconds, or null if the row has no time there */
function timeOf(values: JsonObject, { column, format }: Time): number | null {
  const text = asText(valueAt(values, column));
  if (text === null || text === '') return null;
  if (format === 'unix' || format === 'unix_ms') {
    const time = Number(text) * (format === 'unix' ? 1_000 : 1);
    if (!/^\d{1,14}(?:\.\d{1,9})?$/.test(text) || !(time < 253_402_300_800_000))
      throw new WrongValue(column, 'is not a time since 1970');
    return Math.floor(time);
  }
  const time = isoTime(text);
  const parsed = InputTime.safeParse(format === 'iso_utc' && !/(?:Z|[+-]\d{2}:\d{2})$/i.test(time) ? `${time}Z` : time);
  if (!parsed.success) throw new WrongValue(column, parsed.error.issues[0]?.message ?? 'is not a time');
  return Date.parse(parsed.data);
}

/**
 * Converts a time to strict ISO 8601: PostgreSQL writes a space and +00, BigQuery a space and UTC, Jackson +0000.
 * Digits beyond milliseconds are dropped.
 */
function isoTime(text: string): string {
  return text
    .trim()
    .replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T')
    .replace(/(\.\d{3})\d+/, '$1')
    .replace(/ ?UTC$/, 'Z')
    .replace(/(:\d{2}(?:\.\d{1,3})?[+-]\d{2})$/, '$1:00')
    .replace(/([+-]\d{2})(\d{2})$/, '$1:$2');
}

function required<T>(value: T | null, column: string): T {
  if (value === null) throw new WrongValue(column, 'is missing');
  return value;
}

/** Returns the value of a column: the member with this name, or the one at this path, or null if there is none. */
function valueAt(values: JsonObject, column: string): JsonValue {
  return lookedUp(values, column) ?? null;
}

function isThere(values: JsonObject, column: string): boolean {
  return lookedUp(values, column) !== undefined;
}

function lookedUp(values: JsonObject, column: string): JsonValue | undefined {
  if (Object.hasOwn(values, column)) return values[column];
  let value: JsonValue | undefined = values;
  for (const name of column.split('.')) {
    if (value === undefined || !isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
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
