import { parse as parseYaml } from 'yaml';
import * as z from 'zod';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
import { MAX_TOOL_NAME } from '../../../schemas/events/consent-imported.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import { schemaWords } from '../../../schemas/json/schema-words.js';
import { parseStrictInput, StrictJsonError } from '../../../schemas/json/strict-json.js';

/** Formats of files: CSV (RFC 4180), one array of JSON objects, one JSON object a line. */
export const FILE_FORMATS = ['csv', 'json', 'jsonl'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

/** Largest mapping file, in bytes. */
export const MAX_MAPPING_BYTES = 1_048_576;

/** Values about the person that a row may provide, by their names in a backend's request. */
const PERSON_FIELDS = [
  'visitor_id',
  'visitor_country',
  'visitor_region',
  'ip_address',
  'user_agent',
  'source',
  'signer_name',
  'signer_email',
  'signer_phone',
  'signer_id_number',
  'declaration_text',
] as const;

/** A member name, or with dots, the path to a member of an inner object. */
const Column = z.string().min(1).max(200);
/**
 * Returns whether a record may contain a text. Verifiers read strict JSON, which refuses U+0000 and lone surrogates, so
 * a record with one would be invalid forever.
 */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();
const NOT_STORABLE = 'must not contain U+0000 or half a surrogate pair';

const Text = z.string().max(10_000).refine(isStorable, NOT_STORABLE);

/** A text that is the same in all rows, or the text of a column, translated by `values` if given. */
const Field = z.union([
  z.strictObject({ value: Text }),
  z.strictObject({ column: Column, values: z.record(Text, Text).optional(), default: Text.optional() }),
]);
export type Field = z.infer<typeof Field>;

/**
 * `iso` is ISO 8601 with an offset. `iso_utc` is the same with a space or a `T`, and in UTC if the offset is missing.
 * `unix` and `unix_ms` are seconds and milliseconds since 1970.
 */
const Time = z.strictObject({ column: Column, format: z.enum(['iso', 'iso_utc', 'unix', 'unix_ms']).default('iso') });
export type Time = z.infer<typeof Time>;

/** How the items of a list are separated, and which items are known to mean none of the categories. */
const LIST = {
  separator: z.string().min(1).max(5).default(','),
  case: z.enum(['exact', 'ignored']).default('exact'),
  ignore: z.array(Text).max(1000).default([]),
};

const Choice = z.union([
  z.strictObject({ value: z.boolean() }),
  /** The text of a column. */
  z.strictObject({ column: Column, values: z.record(Text, z.boolean()), default: z.boolean().optional() }),
  /** Whether a list, or a text with separators, contains an item. */
  z.strictObject({ column: Column, contains: Text, ...LIST }),
  /** The text of a member of the one object in a list whose member `id` has this text. */
  z.strictObject({
    column: Column,
    id: Column,
    is: Text,
    member: Column,
    values: z.record(Text, z.boolean()),
    default: z.boolean().optional(),
    ...LIST,
  }),
]);
export type Choice = z.infer<typeof Choice>;

/** The decision follows from the optional categories: all, none or some of them. */
export const FROM_CATEGORIES = 'from_categories';

/** How the rows of a file map to consents, as docs/import.md describes. */
export const Mapping = z.strictObject({
  tool: z
    .string()
    .min(1)
    .max(MAX_TOOL_NAME)
    .regex(/^\P{C}*$/u, 'must be one line without control characters'),
  format: z.enum(FILE_FORMATS),
  delimiter: z.string().length(1).default(','),
  record_id: z.strictObject({ column: Column }).optional(),
  claimed_at: Time,
  valid_until: Time.optional(),
  consent_type: Field,
  decision: z.union([z.literal(FROM_CATEGORIES), Field]),
  document_version_id: Field,
  compliance_framework: Field.optional(),
  categories: z.record(z.string().max(50), Choice).optional(),
  person: z.partialRecord(z.enum(PERSON_FIELDS), Field).default({}),
  metadata: z.record(z.string().max(100).refine(isStorable, NOT_STORABLE), Field).default({}),
});
export type Mapping = z.infer<typeof Mapping>;

/** Values that a tool may not have logged. */
const CIRCUMSTANCES: ReadonlySet<string> = new Set([
  'visitor_country',
  'visitor_region',
  'ip_address',
  'user_agent',
  'source',
]);

/**
 * Returns the columns that a mapping names, each once, without those of circumstances and metadata. If one of these
 * columns were missing, the rows would mean something else, for example that everyone refused.
 */
export function columnsOf(mapping: Mapping): readonly string[] {
  const { record_id, claimed_at, valid_until, consent_type, decision } = mapping;
  const sources = [
    ...[record_id, claimed_at, valid_until, consent_type, decision],
    ...[mapping.document_version_id, mapping.compliance_framework],
    ...Object.values(mapping.categories ?? {}),
    ...Object.entries(mapping.person).flatMap(([name, field]) => (CIRCUMSTANCES.has(name) ? [] : [field])),
  ];
  const columns = sources.flatMap((source) =>
    typeof source === 'object' && 'column' in source ? [source.column] : [],
  );
  return [...new Set(columns)];
}

/** A mapping file cannot be used. The message is written for the operator. */
export class InvalidMapping extends Error {
  override readonly name = 'InvalidMapping';
}

/**
 * Reads a mapping from YAML or JSON.
 * @param base a preset, whose members apply where the file does not name them; if absent, the file must have all
 * members
 * @throws InvalidMapping
 */
export function parseMapping(text: string | null, base: Readonly<Record<string, unknown>> = {}): Mapping {
  const given = text === null ? {} : objectIn(text);
  const parsed = Mapping.safeParse({ ...base, ...given }, { error: schemaWords });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `  ${path.map(String).join('.')}: ${message}`);
  throw new InvalidMapping(`The mapping is incomplete or wrong (docs/import.md):\n${problems.join('\n')}`);
}

function objectIn(text: string): object {
  if (Buffer.byteLength(text) > MAX_MAPPING_BYTES)
    throw new InvalidMapping(`The mapping has more than ${MAX_MAPPING_BYTES} bytes.`);
  let parsed: unknown;
  try {
    // Without aliases, a small file cannot become a large object.
    parsed = text.trimStart().startsWith('{')
      ? parseStrictInput(text)
      : parseYaml(text, { maxAliasCount: 0, uniqueKeys: true });
  } catch (error) {
    if (!(error instanceof StrictJsonError || error instanceof Error)) throw error;
    throw new InvalidMapping(`The mapping is neither YAML nor JSON: ${error.message}`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new InvalidMapping('The mapping must be an object with members such as `tool` and `claimed_at`.');
  return parsed;
}

/** SHA-256 of the canonical JSON of a mapping, with its defaults, in hex. */
export function mappingDigest(mapping: Mapping): string {
  return sha256Hex(canonicalJson(JSON.parse(JSON.stringify(mapping))));
}

/** Mappings for known tools. Each lacks what only the operator knows, at least the document version. */
export const PRESETS = {
  cookiebot: {
    tool: 'Cookiebot',
    format: 'csv',
    record_id: { column: 'Key' },
    claimed_at: { column: 'Date', format: 'iso_utc' },
    consent_type: { value: 'cookie' },
    decision: 'from_categories',
    categories: {
      preferences: { column: 'Preferences', values: { true: true, false: false } },
      statistics: { column: 'Statistics', values: { true: true, false: false } },
      marketing: { column: 'Marketing', values: { true: true, false: false } },
    },
    person: { visitor_id: { column: 'Key' }, ip_address: { column: 'IP' }, user_agent: { column: 'User agent' } },
    metadata: { url: { column: 'URL' } },
  },
  onetrust: {
    tool: 'OneTrust',
    format: 'jsonl',
    record_id: { column: 'receiptId' },
    claimed_at: { column: 'interactionDate', format: 'iso_utc' },
    consent_type: { value: 'cookie' },
    decision: 'from_categories',
    person: { visitor_id: { column: 'identifier' } },
  },
  c15t: {
    tool: 'c15t',
    format: 'jsonl',
    record_id: { column: 'id' },
    claimed_at: { column: 'givenAt', format: 'iso_utc' },
    valid_until: { column: 'validUntil', format: 'iso_utc' },
    consent_type: { value: 'cookie' },
    decision: 'from_categories',
    person: {
      visitor_id: { column: 'subjectId' },
      ip_address: { column: 'ipAddress' },
      user_agent: { column: 'userAgent' },
    },
    metadata: { jurisdiction: { column: 'jurisdiction' }, ui_source: { column: 'uiSource' } },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export type PresetName = keyof typeof PRESETS;
