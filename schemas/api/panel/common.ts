import { z } from 'zod';
import { Uuid } from '../../evidence/primitives.js';

/** A route without parameters of its kind. */
export const None = z.strictObject({});

/** A route that takes no body; an empty object will do. */
export const NoBody = z.strictObject({}).optional();

/** The route's site. */
export const SiteParams = z.object({ site_id: Uuid });

/**
 * A name that people give something: not empty, in one line, and without the characters that make a text read otherwise than it stands (Unicode
 * UAX #9 §2: embeddings, overrides and isolates).
 */
export const displayName = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    .regex(
      /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/u,
      'must have no control characters, line breaks or characters that change the direction of text',
    );

/** A point in time of a response, ISO 8601. */
export const Timestamp = z.iso.datetime({ offset: true });

/** Query members of every list: at most so many items, from where the last page ended. */
export const PageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: z
    .string()
    .max(500)
    .regex(/^[A-Za-z0-9_-]+$/, 'must be a next_cursor of an earlier page')
    .optional(),
});

/** A page of a list. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({
    data: z.array(item),
    next_cursor: z.string().nullable().describe('For the next page; null on the last.'),
  });
}

/** A single resource. */
export function dataOf<T extends z.ZodType>(item: T) {
  return z.object({ data: item });
}
