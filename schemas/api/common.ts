import * as z from 'zod';
import { Sha256Hex, Uuid } from '../evidence/primitives.js';

const EARLIEST = Date.parse('0001-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * A time in a request: ISO 8601 with offset, in the years 1 to 9999 (UTC). The database has no year
 * 0, and JavaScript writes later years with more digits. The output is in UTC, with milliseconds.
 */
export const InputTime = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with an offset, for example 2026-01-31T12:00:00Z' })
  .refine((text) => {
    const time = Date.parse(text);
    return Number.isNaN(time) || (time >= EARLIEST && time <= LATEST);
  }, 'must be in the years 1 to 9999 (UTC)')
  .transform((text) => new Date(text).toISOString());

/** A day in a request. */
export const InputDate = z.iso.date().refine((text) => !text.startsWith('0000'), 'must be in the years 1 to 9999');

/**
 * A UUID in a request, in either case: some languages write upper case (RFC 9562 §4). It is looked up and recorded in
 * lower case. Evidence has another schema, `Uuid`, that accepts lower case only.
 */
export const InputUuid = z
  .string()
  .regex(/^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/, 'must be a UUID')
  .toLowerCase();

/** Largest `integer` of the database. */
export const MAX_INTEGER = 2_147_483_647;

/** A whole number in a request that is compared with an `integer` of the database. */
export const InputInteger = z.int().min(0).max(MAX_INTEGER);

/**
 * A whole number in a path or a query: decimal digits alone, without sign, point or exponent. OpenAPI documents show an
 * integer.
 * @param message what the number must be
 * @param digits the texts that are read, by default including those with leading zeros
 */
export function numberInUrl(min: number, max: number, message: string, digits = /^\d+$/) {
  return z.preprocess(
    (text) => (typeof text === 'string' && digits.test(text) ? Number(text) : text),
    z.int(message).min(min, message).max(max, message),
  );
}

/** Decimal digits without leading zeros. */
export const CANONICAL_DIGITS = /^(?:0|[1-9]\d*)$/;

/** A text in a query. A URL can contain U+0000, which the database does not permit. */
export const QueryText = z.string().refine((text) => !text.includes('\0'), 'must not contain U+0000');

/**
 * Every text is accepted, because a page passes on what its author wrote, and the visitor must be asked in any case.
 */
export const LanguageQuery = z.object({
  language: z
    .string()
    .optional()
    .describe(
      'Preferred language (BCP 47, also with underscores). It comes before those of the header Accept-Language. A text that names no language is ignored, and the response has a warning.',
    ),
});

/** Parts of a successful request that were understood differently from how they were written. */
export const Warnings = z
  .array(
    z.object({
      field: z.string().describe('Path of the member, for example `cookies.0.name`.'),
      message: z.string().describe('What was done, in words.'),
    }),
  )
  .optional();

/** The member for the language in the responses to a `LanguageQuery`. */
export const LanguageWarnings = Warnings.describe('That `language` was not read as it is written. Absent if it was.');

/** Query parameter that replaces the API key in requests to the public scanner. */
export const ScannerQuery = z.object({
  domain: z
    .string()
    .max(253)
    .optional()
    .describe(
      'On the host of the public scanner, without an API key: the verified domain of the site. Ignored otherwise.',
    ),
});

/** A version of a document, without its content. */
export const VersionSummary = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    number: z.int().describe('Number of the version, in the order of publication.'),
    language: z.string().describe('Language (BCP 47).'),
    title: z.string().describe('Title that visitors read.'),
    media_type: z.string().describe('Media type of the content.'),
    content_sha256: Sha256Hex.describe(
      'SHA-256 of the UTF-8 of `content`; for a binary media type, of the bytes that its base64 decodes to.',
    ),
  })
  .meta({ id: 'VersionSummary' });

/** A document attached to a site, with its active version. */
export const DocumentSummary = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    slug: z.string().describe('Name of the document in URLs.'),
    kind: z.string().describe('Kind of the document.'),
    requires_approval_token: z.boolean().describe('Whether a consent to the document requires an approval token.'),
    language: z.string().describe('Language (BCP 47).'),
    version: VersionSummary,
  })
  .meta({ id: 'DocumentSummary' });
export type DocumentSummary = z.infer<typeof DocumentSummary>;
