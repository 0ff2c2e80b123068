import * as z from 'zod';
import type { CopiedRow } from '../../../platform/database/copied-rows.js';
import {
  byteaArray,
  int4Array,
  int8Array,
  int8Literal,
  textArray,
  textLiteral,
  uuidArray,
} from '../../../platform/database/parameters.js';
import type { LoggedEvent, NewEvent, Position, StreamAppend, StreamEvent } from '../port.js';

/**
 * $1 streams, $2 expected revisions; for each event: $3 position of its stream in $1, from 1, $4 revision, $5 id, $6
 * type, $7 body, $8 metadata. Returns one row {outcomes, last_revisions} with one element for each stream.
 */
export const APPEND = {
  name: 'event_log_append',
  text: `SELECT outcomes, last_revisions FROM event_log.append(
    $1::text[], $2::bigint[], $3::integer[], $4::bigint[], $5::uuid[], $6::text[], $7::bytea[], $8::bytea[])`,
};

/**
 * $1 streams and $2 revisions of events. Returns a row for each event that the log has: its position in the arrays,
 * from 1, and the event. The first `OFFSET 0` hides the arrays from the planner, which would otherwise plan each call
 * again for their lengths, at twice the cost of the call. The second one makes it look each event up by its key instead
 * of reading a part of the table for a few events.
 */
export const READ_EVENTS = {
  name: 'event_log_read_events',
  text: `
    SELECT p.place, e.*
    FROM (SELECT $1::text[] AS streams, $2::bigint[] AS revisions OFFSET 0) AS a
    CROSS JOIN LATERAL unnest(a.streams, a.revisions) WITH ORDINALITY AS p (stream, revision, place)
    CROSS JOIN LATERAL (
      SELECT f.id, f.type, f.data, f.metadata FROM event_log.streams AS s JOIN event_log.events AS f ON f.stream = s.number
      WHERE s.name = p.stream AND f.revision = p.revision AND f.revision <= event_log.last_of(s.number) OFFSET 0
    ) AS e`,
};

/** The first or last revision of the stream `s.stream` that has a position, or -1 if there is none. */
const endOf = (end: 'min' | 'max'): string => `coalesce((
      SELECT ${end}(e.revision) FROM event_log.streams AS t JOIN event_log.events AS e ON e.stream = t.number
       WHERE t.name = s.stream AND e.revision <= event_log.last_of(t.number)), -1)`;

/** $1 has streams. Returns one row {stream, last_revision} for each, with -1 if there is no such stream. */
export const LAST_REVISIONS = {
  name: 'event_log_last_revisions',
  text: `SELECT s.stream, ${endOf('max')} AS last_revision FROM unnest($1::text[]) AS s (stream)`,
};

/** $1 a position as a number. Returns a row if the log has events after it. */
export const HAS_MORE = {
  name: 'event_log_has_more',
  text: `SELECT FROM (SELECT position + count - 1 AS head FROM event_log.runs ORDER BY position DESC LIMIT 1) AS last
          WHERE head > $1`,
};

/** $1 has streams. Returns one row {stream, first_revision} for each, with -1 if there is no such stream. */
export const FIRST_REVISIONS = {
  name: 'event_log_first_revisions',
  text: `SELECT s.stream, ${endOf('min')} AS first_revision FROM unnest($1::text[]) AS s (stream)`,
};

/** The columns of an event in the order in which `streamEventOf` reads them. */
const EVENT = 'name, revision, id, type, data, metadata';

/**
 * Returns the query of a page of a stream.
 * @param limit maximum number of events
 * @param maxBytes maximum size of their bodies and metadata; the first event is returned at any size
 */
export function readStreamSql(stream: string, fromRevision: number, limit: number, maxBytes: number): string {
  const from = int8Literal(fromRevision);
  return `
    SELECT ${EVENT} FROM (
      SELECT *, sum(octet_length(data) + octet_length(metadata)) OVER (ORDER BY revision) AS bytes FROM (
        SELECT s.name, e.* FROM event_log.streams AS s, event_log.last_of(s.number) AS last (revision), LATERAL (
          SELECT * FROM event_log.events AS o
           WHERE o.stream = s.number AND o.revision >= ${from} AND o.revision <= last.revision
           ORDER BY o.revision LIMIT ${int8Literal(limit)}
        ) AS e WHERE s.name = ${textLiteral(stream)}
      ) AS page
    ) AS sized
    WHERE bytes <= ${int8Literal(maxBytes)} OR revision = ${from}
    ORDER BY revision`;
}

/**
 * Returns the query of a page of the whole log: for each event, after the columns of `EVENT`, its
 * position and the number of events that the page would have without `maxBytes`.
 * @param after position after which to start
 * @param limit maximum number of events
 * @param maxBytes maximum size of their bodies and metadata; the first event is returned at any size
 */
export function readAllSql(after: bigint, limit: number, maxBytes: number): string {
  const first = `'${after + 1n}'::bigint`;
  return `
    SELECT ${EVENT}, position, read FROM (
      SELECT *, count(*) OVER () AS read, row_number() OVER in_order AS place,
             sum(octet_length(data) + octet_length(metadata)) OVER in_order AS bytes
      FROM (
        SELECT s.name, e.*, r.position + (e.revision - r.revision) AS position
          FROM (
            SELECT *, sum(count - skip) OVER (ORDER BY position) - (count - skip) AS before FROM (
              SELECT *, least(count, greatest(0, ${first} - position)) AS skip FROM event_log.runs
               WHERE position >= coalesce(
                 (SELECT position FROM event_log.runs WHERE position <= ${first} ORDER BY position DESC LIMIT 1), 0)
               ORDER BY position LIMIT ${int8Literal(limit)} + 1
            ) AS next
          ) AS r
          JOIN LATERAL (SELECT name FROM event_log.streams AS t WHERE t.number = r.stream LIMIT 1) AS s ON true
          JOIN LATERAL (
            SELECT * FROM event_log.events AS o
             WHERE o.stream = r.stream AND o.revision >= r.revision + r.skip AND o.revision < r.revision + r.count
             ORDER BY o.revision LIMIT ${int8Literal(limit)}
          ) AS e ON true
         WHERE r.before < ${int8Literal(limit)}
         ORDER BY position LIMIT ${int8Literal(limit)}
      ) AS page
      WINDOW in_order AS (ORDER BY position)
    ) AS sized
    WHERE bytes <= ${int8Literal(maxBytes)} OR place = 1
    ORDER BY position`;
}

interface PlacedEvent {
  readonly event: NewEvent;
  /** Position of its stream among the appends, from 1. */
  readonly owner: number;
  readonly revision: number;
}

/** Returns the parameters of the statement `APPEND`, in binary form. */
export function appendParameters(appends: readonly StreamAppend[]): Buffer[] {
  const placed: PlacedEvent[] = appends.flatMap(({ events, expectedRevision }, place) =>
    events.map((event, n) => ({ event, owner: place + 1, revision: expectedRevision + 1 + n })),
  );
  return [
    textArray(appends.map(({ stream }) => stream)),
    int8Array(appends.map(({ expectedRevision }) => expectedRevision)),
    int4Array(placed.map(({ owner }) => owner)),
    int8Array(placed.map(({ revision }) => revision)),
    uuidArray(placed.map(({ event }) => event.id)),
    textArray(placed.map(({ event }) => event.type)),
    byteaArray(placed.map(({ event }) => event.data)),
    byteaArray(placed.map(({ event }) => event.metadata)),
  ];
}

/** Number of digits of a position, so that positions compare as strings. */
const POSITION_DIGITS = 20;

const bigintText = z.string().regex(/^-?\d{1,19}$/);
const revision = bigintText.transform(Number).pipe(z.number().int().min(-1).max(Number.MAX_SAFE_INTEGER));
/** For each stream: the outcome of its append, and the last revision that it had before. */
export const appendRows = z.tuple([
  z.object({
    outcomes: z.array(z.enum(['appended', 'present', 'conflict'])),
    last_revisions: z.array(revision),
  }),
]);
export const lastRevisionRows = z.array(z.object({ stream: z.string(), last_revision: z.number() }));
export const firstRevisionRows = z.array(z.object({ stream: z.string(), first_revision: z.number() }));

/** Rows of `READ_EVENTS`: an event with its position among the requested ones, from 1. */
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
