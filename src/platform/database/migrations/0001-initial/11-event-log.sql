-- Runs beside: nothing
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

-- Appends events to several streams, each as if alone: its events are written if the revision of its
-- last event is in_expected (-1: it has none). The events are those of in_ids to in_metadata, in the
-- order of the log; in_owners says to which stream each belongs, counted from 1, and in_revisions at
-- which revision. Sets for each stream outcomes to
--   appended  its events were written
--   present   exactly these events are there already: an earlier try whose answer was lost
--   conflict  the stream has other events after in_expected
-- and last_revisions to the last revision that it had before.
create function event_log.append(
  in_streams text[], in_expected bigint[],
  in_owners integer[], in_revisions bigint[], in_ids uuid[], in_types text[], in_data bytea[], in_metadata bytea[],
  out outcomes text[], out last_revisions bigint[]
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
  head bigint;
begin
  -- A stricter isolation takes its snapshot before the lock: the heads read below would be stale.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'event_log.append needs read committed' using errcode = 'invalid_transaction_state';
  end if;
  if current_setting('synchronous_commit') not in ('on', 'remote_apply') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  perform pg_advisory_xact_lock(1129071687, 1);

  last_revisions := array(
    select coalesce((select max(e.revision) from event_log.events as e where e.stream = s.stream), -1)
      from unnest(in_streams) with ordinality as s (stream, n) order by n);
  outcomes := array(
    select case
        when s.last = s.expected then 'appended'
        when exists (
          select from unnest(in_owners, in_revisions, in_ids, in_types, in_data, in_metadata)
              as g (owner, revision, id, type, data, metadata)
           where g.owner = s.n and not exists (
             select from event_log.events as e
              where e.stream = s.stream and e.revision = g.revision
                and e.id = g.id and e.type = g.type and e.data = g.data and e.metadata = g.metadata))
        then 'conflict'
        else 'present'
      end
      from unnest(in_streams, in_expected, last_revisions) with ordinality as s (stream, expected, last, n) order by n);
  if not 'appended' = any (outcomes) then
    return;
  end if;

  select coalesce(max(position), 0) into head from event_log.events;
  insert into event_log.events (position, stream, revision, id, type, data, metadata)
    select head + row_number() over (order by g.n), s.stream, g.revision, g.id, g.type, g.data, g.metadata
      from unnest(in_owners, in_revisions, in_ids, in_types, in_data, in_metadata)
             with ordinality as g (owner, revision, id, type, data, metadata, n)
      join unnest(in_streams, outcomes) with ordinality as s (stream, outcome, n)
        on s.n = g.owner and s.outcome = 'appended';
  perform pg_notify('consent_ledger_event_log', '');
end
$$;
comment on function event_log.append(text[], bigint[], integer[], bigint[], uuid[], text[], bytea[], bytea[]) is
  'Appends events to each stream whose last revision is the expected one, and wakes subscribers.';
revoke all on function event_log.append(text[], bigint[], integer[], bigint[], uuid[], text[], bytea[], bytea[]) from public;
grant execute on function event_log.append(text[], bigint[], integer[], bigint[], uuid[], text[], bytea[], bytea[])
  to consent_ledger_worker;
