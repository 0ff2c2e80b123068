/**
 * $1 streams, $2 expected revisions; for each event: $3 place of its stream from 1, $4 revision, $5
 * id, $6 type, $7 body, $8 metadata. Returns one row {outcomes, last_revisions}, one element for each
 * stream.
 */
export const APPEND = {
  name: 'event_log_append',
  text: `SELECT outcomes, last_revisions FROM event_log.append(
    $1::text[], $2::bigint[], $3::integer[], $4::bigint[], $5::uuid[], $6::text[], $7::bytea[], $8::bytea[])`,
};

/** $1 streams; one row {stream, last_revision} for each, -1 if there is no such stream. */
export const LAST_REVISIONS = {
  name: 'event_log_last_revisions',
  text: `
    SELECT s.stream, coalesce((SELECT max(e.revision) FROM event_log.events AS e WHERE e.stream = s.stream), -1) AS last_revision
    FROM unnest($1::text[]) AS s (stream)`,
};

/**
 * $1 stream, $2 first revision, $3 maximum events, $4 maximum bytes (the first event is returned at
 * any size).
 */
export const READ_STREAM = {
  name: 'event_log_read_stream',
  text: `
    SELECT stream, revision, id, type, data, metadata FROM (
      SELECT *, sum(octet_length(data) + octet_length(metadata)) OVER (ORDER BY revision) AS bytes FROM (
        SELECT * FROM event_log.events WHERE stream = $1 AND revision >= $2 ORDER BY revision LIMIT $3
      ) AS page
    ) AS sized
    WHERE bytes <= $4 OR revision = $2
    ORDER BY revision`,
};

/**
 * $1 position after which to start, $2 maximum events, $3 maximum bytes (the first event is
 * returned at any size).
 */
export const READ_ALL = {
  name: 'event_log_read_all',
  text: `
    SELECT position, stream, revision, id, type, data, metadata, read FROM (
      SELECT *, count(*) OVER () AS read, row_number() OVER in_order AS place,
             sum(octet_length(data) + octet_length(metadata)) OVER in_order AS bytes
      FROM (SELECT * FROM event_log.events WHERE position > $1 ORDER BY position LIMIT $2) AS page
      WINDOW in_order AS (ORDER BY position)
    ) AS sized
    WHERE bytes <= $3 OR place = 1
    ORDER BY position`,
};
