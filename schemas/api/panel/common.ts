import * as z from 'zod';
import { InputUuid, numberInUrl } from '../common.js';

/** No path or query parameters. */
export const None = z.strictObject({});

/** No request body; an empty object is permitted. */
export const NoBody = z.strictObject({}).optional();

/** The site in the path. */
export const SiteParams = z.object({ site_id: InputUuid.describe('The site.') });

/**
 * A name that a user chooses: one line, without characters that change the order in which text is displayed (Unicode
 * UAX #9 §2: embeddings, overrides and isolates).
 */
export const displayName = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    .regex(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are refused, and \p{Cc} needs a flag that readers of JSON Schema do not set.
      /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/,
      'must not contain control characters, line breaks or characters that change the direction of text',
    );

/**
 * Why a user looks at personal values. The audit log keeps it for ever, so it must not name the person, whose values can
 * be erased.
 */
export const DisclosureReason = displayName(500)
  .min(3)
  .describe('Why the values are needed, for the audit log. It must not name the person.');

/** A point in time of a response, ISO 8601. */
export const Timestamp = z.iso.datetime({ offset: true });

/** Query parameters of every list. */
export const PageQuery = z.strictObject({
  limit: numberInUrl(1, 100, 'must be a whole number from 1 to 100')
    .default(50)
    .describe('Maximum number of items on the page, by default 50.'),
  cursor: z
    .string()
    .max(500)
    .regex(/^[A-Za-z0-9_-]+$/, 'must be the next_cursor of a page of this list')
    .optional()
    .describe('`next_cursor` of the page before.'),
});

/** A page of a list. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({
    data: z.array(item).describe('The result.'),
    next_cursor: z.string().nullable().describe('Cursor of the next page, or null on the last page.'),
  });
}

/** A single resource. */
export function dataOf<T extends z.ZodType>(item: T) {
  return z.object({ data: item });
}
