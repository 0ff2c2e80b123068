/** Channel on which `event_log.append` says that there is something new. */
export const EVENT_LOG_CHANNEL = 'consent_ledger_event_log';

/**
 * The tables of the `postgres` event log: run once, inside a transaction, by the role that will own them (a migration). The group roles
 * `consent_ledger_api` and `consent_ledger_worker` must exist; `PUBLIC` gets nothing.
 *
 * Events are written only through `event_log.append`, which takes one lock for the whole log and holds it to the commit: that makes the order
 * of positions the order of commits. (The lock is released after the commit is visible, so the next holder's snapshot has it.)
 */
export const eventLogSchemaSql = `
CREATE SCHEMA event_log;

CREATE TABLE event_log.events (
  position bigint PRIMARY KEY CHECK (position > 0),
  stream text COLLATE "C" NOT NULL,
  revision bigint NOT NULL CHECK (revision >= 0),
  id uuid NOT NULL,
  type text COLLATE "C" NOT NULL,
  data bytea NOT NULL,
  metadata bytea NOT NULL,
  CONSTRAINT events_stream_revision UNIQUE (stream, revision),
  CONSTRAINT events_id UNIQUE (id)
);

CREATE FUNCTION event_log.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the event log is append-only: % refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON event_log.events
  FOR EACH STATEMENT EXECUTE FUNCTION event_log.refuse_change();
ALTER TABLE event_log.events ENABLE ALWAYS TRIGGER append_only;

CREATE FUNCTION event_log.append(
  in_stream text, in_expected bigint, in_ids uuid[], in_types text[], in_data bytea[], in_metadata bytea[],
  OUT outcome text, OUT last_revision bigint
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  head bigint;
  present bigint;
BEGIN
  -- Under a stricter isolation the snapshot would be older than the lock, and the head read below stale.
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'event_log.append needs read committed' USING ERRCODE = 'invalid_transaction_state';
  END IF;
  IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  PERFORM pg_advisory_xact_lock(1129071687, 1);

  SELECT coalesce(max(revision), -1) INTO last_revision FROM event_log.events WHERE stream = in_stream;
  IF last_revision <> in_expected THEN
    SELECT count(*) INTO present
      FROM unnest(in_ids, in_types, in_data, in_metadata) WITH ORDINALITY AS given (id, type, data, metadata, n)
      JOIN event_log.events AS e
        ON e.stream = in_stream AND e.revision = in_expected + given.n
       AND e.id = given.id AND e.type = given.type AND e.data = given.data AND e.metadata = given.metadata;
    IF present = cardinality(in_ids) THEN
      outcome := 'present';
      last_revision := in_expected + present;
    ELSE
      outcome := 'conflict';
    END IF;
    RETURN;
  END IF;

  SELECT coalesce(max(position), 0) INTO head FROM event_log.events;
  INSERT INTO event_log.events (position, stream, revision, id, type, data, metadata)
    SELECT head + n, in_stream, in_expected + n, id, type, data, metadata
      FROM unnest(in_ids, in_types, in_data, in_metadata) WITH ORDINALITY AS given (id, type, data, metadata, n);
  PERFORM pg_notify('${EVENT_LOG_CHANNEL}', '');
  outcome := 'appended';
  last_revision := in_expected + cardinality(in_ids);
END $$;

REVOKE ALL ON FUNCTION event_log.append(text, bigint, uuid[], text[], bytea[], bytea[]) FROM PUBLIC;
GRANT USAGE ON SCHEMA event_log TO consent_ledger_api, consent_ledger_worker;
GRANT SELECT ON event_log.events TO consent_ledger_api, consent_ledger_worker;
GRANT EXECUTE ON FUNCTION event_log.append(text, bigint, uuid[], text[], bytea[], bytea[]) TO consent_ledger_worker;
`;
