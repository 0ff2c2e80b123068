/**
 * $1 stream, $2 expected revision, $3 ids, $4 types, $5 bodies, $6 metadata.
 * Returns one row {outcome, last_revision}.
 */
export const APPEND = {
  name: 'event_log_append',
  text: 'SELECT outcome, last_revision FROM event_log.append($1, $2, $3::uuid[], $4::text[], $5::bytea[], $6::bytea[])',
};

/** $1 stream; one row {last_revision}, -1 if there is no such stream. */
export const LAST_REVISION = {
  name: 'event_log_last_revision',
  text: 'SELECT coalesce(max(revision), -1) AS last_revision FROM event_log.events WHERE stream = $1',
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
