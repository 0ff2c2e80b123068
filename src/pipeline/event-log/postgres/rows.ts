import { z } from 'zod';
import type { LoggedEvent, Position, StreamEvent } from '../port.js';

/** Number of digits of a position, so that positions compare as strings. */
const POSITION_DIGITS = 20;

const bigintText = z.string().regex(/^-?\d{1,19}$/);
const revision = bigintText.transform(Number).pipe(z.number().int().min(-1).max(Number.MAX_SAFE_INTEGER));
const bytes = z.instanceof(Uint8Array);

const streamRow = z.object({
  stream: z.string(),
  revision,
  id: z.string(),
  type: z.string(),
  data: bytes,
  metadata: bytes,
});
const logRow = streamRow.extend({
  position: bigintText.transform((digits): Position => digits.padStart(POSITION_DIGITS, '0')),
  read: bigintText.transform(Number),
});

/** For each stream: what became of its append, and the last revision that it had before. */
export const appendRows = z.tuple([
  z.object({
    outcomes: z.array(z.enum(['appended', 'present', 'conflict'])),
    last_revisions: z.array(revision),
  }),
]);
export const lastRevisionRows = z.array(z.object({ stream: z.string(), last_revision: revision }));

/** Parses the rows of a stream's page. */
export function parseStreamRows(rows: readonly unknown[]): StreamEvent[] {
  return z.array(streamRow).parse(rows);
}

/**
 * Parses the rows of a page of the whole log. `read` is the number of events that the page would
 * have without its byte limit.
 */
export function parseLogRows(rows: readonly unknown[]): { events: LoggedEvent[]; read: number } {
  const parsed = z.array(logRow).parse(rows);
  return { events: parsed.map(({ read: _, ...event }) => event), read: parsed[0]?.read ?? 0 };
}

/**
 * Converts a position to the `bigint` parameter of PostgreSQL.
 * @throws TypeError for a position of another adapter, or an invalid one
 */
export function positionParameter(after: Position | null): string {
  if (after === null) return '0';
  if (!/^\d{20}$/.test(after)) throw new TypeError(`not a position of this log: ${JSON.stringify(after)}`);
  return BigInt(after).toString();
}
