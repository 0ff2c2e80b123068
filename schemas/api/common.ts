import { z } from 'zod';
import type { JsonValue } from '../json/json-value.js';
import { Sha256Hex, Uuid } from '../evidence/primitives.js';

const EARLIEST = Date.parse('0001-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * A time that comes from outside, in queries, bodies and cursors: ISO 8601 with offset. It is of the years 1 to 9999 in UTC, which every part of the service can hold and
 * write: the database has no year 0, and JavaScript writes later years with more digits. Comes out in UTC, with milliseconds.
 */
export const InputTime = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with offset' })
  .refine((text) => {
    const time = Date.parse(text);
    return Number.isNaN(time) || (time >= EARLIEST && time <= LATEST);
  }, 'must be of the years 1 to 9999 (UTC)')
  .transform((text) => new Date(text).toISOString());

/** A day that comes from outside. */
export const InputDate = z.iso.date().refine((text) => !text.startsWith('0000'), 'must be of the years 1 to 9999');

/** Largest `integer` of the database. */
export const MAX_INTEGER = 2_147_483_647;

/** A whole number that comes from outside and is held against an `integer` of the database. */
export const InputInteger = z.int().min(0).max(MAX_INTEGER);

/** A text of a query. JSON never holds U+0000, an address may, and the database takes it in no text. */
export const QueryText = z.string().refine((text) => !text.includes('\0'), 'must not hold U+0000');

/** A language tag (BCP 47), as a caller asks for it. */
export const LanguageTag = z
  .string()
  .max(35)
  .regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/, 'must be a language tag like en or pt-BR');

export const LanguageQuery = z.object({ language: LanguageTag.optional() });

/** A version of a document, without its content. */
export const VersionSummary = z
  .object({
    id: Uuid,
    number: z.int(),
    language: z.string(),
    title: z.string(),
    media_type: z.string(),
    content_sha256: Sha256Hex.describe(
      'Of the UTF-8 of `content`; for a binary media type, of the bytes that its base64 decodes to.',
    ),
  })
  .meta({ id: 'VersionSummary' });

/** A document attached to a site, with its active version. */
export const DocumentSummary = z
  .object({
    id: Uuid,
    slug: z.string(),
    kind: z.string(),
    requires_approval_token: z.boolean(),
    language: z.string(),
    version: VersionSummary,
  })
  .meta({ id: 'DocumentSummary' });
export type DocumentSummary = z.infer<typeof DocumentSummary>;

/** Any JSON value. */
export const AnyJson: z.ZodType<JsonValue, JsonValue> = z
  .lazy(() => z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(AnyJson), z.record(z.string(), AnyJson)]))
  .meta({ id: 'JsonValue', description: 'Any JSON value.' });
