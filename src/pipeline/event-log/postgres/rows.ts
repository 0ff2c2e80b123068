import * as z from 'zod';
import type { CopiedRow } from '../../../platform/database/copied-rows.js';
import type { LoggedEvent, Position, StreamEvent } from '../port.js';

/** Number of digits of a position, so that positions compare as strings. */
const POSITION_DIGITS = 20;

const bigintText = z.string().regex(/^-?\d{1,19}$/);
const revision = bigintText.transform(Number).pipe(z.number().int().min(-1).max(Number.MAX_SAFE_INTEGER));
/** For each stream: what became of its append, and the last revision that it had before. */
export const appendRows = z.tuple([
  z.object({
    outcomes: z.array(z.enum(['appended', 'present', 'conflict'])),
    last_revisions: z.array(revision),
  }),
]);
export const lastRevisionRows = z.array(z.object({ stream: z.string(), last_revision: z.number() }));
export const firstRevisionRows = z.array(z.object({ stream: z.string(), first_revision: z.number() }));

/** Rows of `READ_EVENTS`: an event with its place among those that were asked for, from 1. */
export const placedEventRows = z.array(
  z.object({
    place: z.int(),
    id: z.string(),
    type: z.string(),
    data: z.instanceof(Uint8Array),
    metadata: z.instanceof(Uint8Array),
  }),
);

/** Reads a row of `readStreamSql`. */
export function streamEventOf(row: CopiedRow): StreamEvent {
  return {
    stream: row.text(),
    revision: row.int8(),
    id: row.uuid(),
    type: row.text(),
    data: row.bytea(),
    metadata: row.bytea(),
  };
}

/** An event of a page of the whole log. */
export interface PagedEvent {
  readonly event: LoggedEvent;
  /** Number of events that the page would have without its byte limit. */
  readonly read: number;
}

/** Reads a row of `readAllSql`. */
export function pagedEventOf(row: CopiedRow): PagedEvent {
  const event = streamEventOf(row);
  const position = String(row.int8()).padStart(POSITION_DIGITS, '0');
  return { event: { ...event, position }, read: row.int8() };
}

/**
 * Converts a position to the number that PostgreSQL has for it.
 * @throws TypeError for a position of another adapter, or an invalid one
 */
export function positionOf(after: Position | null): bigint {
  if (after === null) return 0n;
  if (!/^\d{20}$/.test(after)) throw new TypeError(`not a position of this log: ${JSON.stringify(after)}`);
  return BigInt(after);
}
