-- The event log of the postgres adapter.
--
-- Events are written only by event_log.append, which takes one lock for the whole log and holds it
-- until the commit. This makes the order of positions the order of commits. (The lock is released
-- after the commit is visible, so that the snapshot of the next holder includes it.)

create schema event_log;
comment on schema event_log is 'The append-only event log.';

create table event_log.events (
  position bigint primary key check (position > 0),
  stream text collate "C" not null,
  revision bigint not null check (revision >= 0),
  id uuid not null,
  type text collate "C" not null,
  data bytea not null,
  metadata bytea not null,
  constraint events_stream_revision unique (stream, revision),
  constraint events_id unique (id)
);

comment on table event_log.events is 'Events of all streams. Rows are never changed or deleted.';
comment on column event_log.events.position is 'Position in the log, from 1 without gaps.';
comment on column event_log.events.stream is 'Stream that the event belongs to.';
comment on column event_log.events.revision is 'Place in the stream, from 0 without gaps.';
comment on column event_log.events.id is 'Id of the event.';
comment on column event_log.events.type is 'Type of the event with its version.';
comment on column event_log.events.data is 'Body of the event: UTF-8 JSON.';
comment on column event_log.events.metadata is 'Metadata of the event: UTF-8 JSON, or empty.';

create function event_log.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the event log is append-only: % refused', tg_op using errcode = 'insufficient_privilege';
end
$$;
comment on function event_log.refuse_change() is 'Refuses every change of a recorded event.';

create trigger append_only before update or delete or truncate on event_log.events
  for each statement execute function event_log.refuse_change();
-- Also for sessions with session_replication_role = replica, which skips ordinary triggers.
alter table event_log.events enable always trigger append_only;

-- in_expected is the revision of the last event of the stream, or -1 if it has none. Sets outcome to
--   appended  the events were written
--   present   exactly these events are there already: an earlier try whose answer was lost
--   conflict  the stream has other events after in_expected
-- and last_revision to the last revision of the stream, or to that of the given events if present.
create function event_log.append(
  in_stream text, in_expected bigint, in_ids uuid[], in_types text[], in_data bytea[], in_metadata bytea[],
  out outcome text, out last_revision bigint
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
  head bigint;
  present bigint;
begin
  -- A stricter isolation takes its snapshot before the lock: the head read below would be stale.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'event_log.append needs read committed' using errcode = 'invalid_transaction_state';
  end if;
  if current_setting('synchronous_commit') not in ('on', 'remote_apply') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  perform pg_advisory_xact_lock(1129071687, 1);

  select coalesce(max(revision), -1) into last_revision from event_log.events where stream = in_stream;
  if last_revision <> in_expected then
    select count(*) into present
      from unnest(in_ids, in_types, in_data, in_metadata) with ordinality as given (id, type, data, metadata, n)
      join event_log.events as e
        on e.stream = in_stream and e.revision = in_expected + given.n
       and e.id = given.id and e.type = given.type and e.data = given.data and e.metadata = given.metadata;
    if present = cardinality(in_ids) then
      outcome := 'present';
      last_revision := in_expected + present;
    else
      outcome := 'conflict';
    end if;
    return;
  end if;

  select coalesce(max(position), 0) into head from event_log.events;
  insert into event_log.events (position, stream, revision, id, type, data, metadata)
    select head + n, in_stream, in_expected + n, id, type, data, metadata
      from unnest(in_ids, in_types, in_data, in_metadata) with ordinality as given (id, type, data, metadata, n);
  perform pg_notify('consent_ledger_event_log', '');
  outcome := 'appended';
  last_revision := in_expected + cardinality(in_ids);
end
$$;
comment on function event_log.append(text, bigint, uuid[], text[], bytea[], bytea[]) is
  'Appends events to a stream if its last revision is the expected one, and wakes subscribers.';
revoke all on function event_log.append(text, bigint, uuid[], text[], bytea[], bytea[]) from public;
grant execute on function event_log.append(text, bigint, uuid[], text[], bytea[], bytea[]) to consent_ledger_worker;
