-- Runs beside: nothing
-- The events, each stored once.
--
-- A transaction that accepts an event gives it its revision and lets it wait (event_log.put). With the
-- postgres log, these rows are the log: the sequencer gives them positions (event_log.sequence). With
-- another log, the relay appends them there, each at its revision (event_log.relayed), and they stay for
-- the time of retention.

create schema event_log;
comment on schema event_log is 'The events, and the append-only log of the postgres adapter.';

create table event_log.streams (
  number integer generated always as identity primary key,
  name text collate "C" not null unique,
  site_id uuid generated always as (
    case when name ~ '^(consents|notices)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
         then substr(name, strpos(name, '-') + 1)::uuid end) stored,
  next_revision bigint not null default 0 check (next_revision >= 0)
);
-- Room for the versions of a row, so that its index entries stay.
alter table event_log.streams set (fillfactor = 50);

comment on table event_log.streams is 'Streams of events.';
comment on column event_log.streams.number is 'Short name, by which the other tables refer to the stream.';
comment on column event_log.streams.name is 'Name of the stream.';
comment on column event_log.streams.site_id is 'Site that the stream belongs to; null: none.';
comment on column event_log.streams.next_revision is 'Revision that the next event of the stream gets.';

create table event_log.events (
  revision bigint not null check (revision >= 0),
  sealed_before timestamptz,
  stream integer not null,
  id uuid not null,
  type text collate "C" not null,
  data bytea not null,
  metadata bytea not null,
  primary key (stream, revision)
);
-- Ciphertext does not compress, and the usual body of an event, a little above 2 kB, is cheaper in
-- its row than beside it.
alter table event_log.events set (toast_tuple_target = 8160);
alter table event_log.events alter column data set storage external;

comment on table event_log.events is 'Events of all streams. Rows are never changed, and never deleted once they have a position.';
comment on column event_log.events.revision is 'Place in the stream, from 0 without gaps.';
comment on column event_log.events.sealed_before is 'Time before which the consent is sealed, as promised; null: no consent.';
comment on column event_log.events.stream is 'Stream that the event belongs to.';
comment on column event_log.events.id is 'Id of the event.';
comment on column event_log.events.type is 'Type of the event with its version.';
comment on column event_log.events.data is 'Body of the event: UTF-8 JSON, exactly as it is hashed.';
comment on column event_log.events.metadata is 'Metadata of the event: UTF-8 JSON, or empty.';

create table event_log.waiting (
  site_id uuid not null,
  number bigint generated always as identity,
  stream integer not null,
  revision bigint not null,
  count integer not null check (count > 0),
  bytes integer not null,
  created_at timestamptz not null default now(),
  primary key (site_id, number)
);
-- Every row is deleted soon after it was inserted. The scale factor and threshold of a usual table would
-- let the index grow by what is dead; giving space back at the end locks out those who insert.
alter table event_log.waiting set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_insert_threshold = -1, vacuum_truncate = off);

comment on table event_log.waiting is 'Events that wait for the log: one row for each run that one transaction wrote.';
comment on column event_log.waiting.site_id is 'Site of the events.';
comment on column event_log.waiting.number is 'Order in which the events of a site enter the log; given under the lock of the site.';
comment on column event_log.waiting.stream is 'Stream of the events.';
comment on column event_log.waiting.revision is 'Revision of the first event.';
comment on column event_log.waiting.count is 'Number of events, at consecutive revisions.';
comment on column event_log.waiting.bytes is 'Bytes of their bodies.';
comment on column event_log.waiting.created_at is 'Time of the transaction that wrote them.';

create table event_log.runs (
  position bigint primary key check (position > 0),
  stream integer not null,
  revision bigint not null check (revision >= 0),
  count integer not null check (count > 0),
  constraint runs_stream_revision unique (stream, revision)
);

comment on table event_log.runs is 'The order of the postgres log: consecutive events of one stream at consecutive positions. Rows are never changed or deleted.';
comment on column event_log.runs.position is 'Position of the first event in the log, from 1 without gaps.';
comment on column event_log.runs.stream is 'Stream of the events.';
comment on column event_log.runs.revision is 'Revision of the first event.';
comment on column event_log.runs.count is 'Number of events.';

create view event_log.stored_events as
  select s.site_id, s.name as stream, e.revision, e.id, e.type, e.data, e.sealed_before
    from event_log.streams s join event_log.events e on e.stream = s.number;
comment on view event_log.stored_events is 'Events with the names of their streams, also those that wait.';

create view event_log.log as
  select r.position + (e.revision - r.revision) as position, s.name as stream, e.revision, e.id, e.type, e.data, e.metadata
    from event_log.runs r
    join event_log.streams s on s.number = r.stream
    join event_log.events e on e.stream = r.stream and e.revision between r.revision and r.revision + r.count - 1;
comment on view event_log.log is 'The postgres log: events with their positions and the names of their streams.';

-- The events of a stream that wait are its last ones, and the rows of a site have their order.
create view event_log.logged_streams as
  select l.stream, l.site_id, l.revision
    from (select s.name as stream, s.site_id,
                 coalesce((select w.revision from event_log.waiting w where w.site_id = s.site_id and w.stream = s.number
                            order by w.number limit 1), s.next_revision) - 1 as revision
            from event_log.streams s where s.site_id is not null) l
   where l.revision >= 0;
comment on view event_log.logged_streams is 'The last revision that the log has of each stream of a site, as far as this database knows.';

create view event_log.waiting_events as
  select w.site_id, w.number, w.created_at, s.name as stream, e.revision, e.id, e.type, e.data
    from event_log.waiting w
    join event_log.streams s on s.number = w.stream
    join event_log.events e on e.stream = w.stream and e.revision between w.revision and w.revision + w.count - 1;
comment on view event_log.waiting_events is 'Events that wait for the log.';

create table event_log.retention (
  is_only_row boolean primary key default true check (is_only_row),
  batch bigint not null default -1
);
insert into event_log.retention default values;

comment on table event_log.retention is 'Which events were deleted because another log has them (one row).';
comment on column event_log.retention.is_only_row is 'Always true: allows one row only.';
comment on column event_log.retention.batch is 'Batch up to which events were deleted; -1: none.';

create table event_log.set_aside (
  id uuid not null,
  stream text collate "C" not null,
  type text collate "C" not null,
  data bytea not null,
  set_aside_at timestamptz not null default now()
);
alter table event_log.set_aside alter column data set storage external;

comment on table event_log.set_aside is 'Events that could not enter the log, and that an operator set aside.';
comment on column event_log.set_aside.id is 'Id of the event.';
comment on column event_log.set_aside.stream is 'Stream in which it waited.';
comment on column event_log.set_aside.type is 'Type of the event with its version.';
comment on column event_log.set_aside.data is 'Body of the event, as it was found.';
comment on column event_log.set_aside.set_aside_at is 'When it was set aside.';

create function event_log.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the event log is append-only: % refused', tg_op using errcode = 'insufficient_privilege';
end
$$;
comment on function event_log.refuse_change() is 'Refuses every change of a recorded event.';

create trigger append_only before update or truncate on event_log.events
  for each statement execute function event_log.refuse_change();
create trigger append_only before update or delete or truncate on event_log.runs
  for each statement execute function event_log.refuse_change();

create function event_log.refuse_deletion() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if (select r.revision + r.count > old.revision from event_log.runs r
       where r.stream = old.stream and r.revision <= old.revision order by r.revision desc limit 1) then
    raise exception 'the event log is append-only: DELETE refused' using errcode = 'insufficient_privilege';
  end if;
  return old;
end
$$;
comment on function event_log.refuse_deletion() is 'Refuses the deletion of an event that has a position.';

create trigger kept_in_log before delete on event_log.events
  for each row execute function event_log.refuse_deletion();
-- Also for sessions with session_replication_role = replica, which skips ordinary triggers.
alter table event_log.events enable always trigger append_only;
alter table event_log.events enable always trigger kept_in_log;
alter table event_log.runs enable always trigger append_only;

-- Stores events of sites at the end of their streams, and lets them wait for the log. Events of one
-- stream are in their order. No other code writes such events: under the lock of the site, revisions
-- have no gaps, and the numbers of waiting rows have the order of commits. An aborted transaction gives
-- its revisions back.
create function event_log.put(
  in_sites uuid[], in_streams text[], in_ids uuid[], in_types text[], in_data bytea[], in_sealed_before timestamptz[]
) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
  names constant text[] := array(select distinct s.name from unnest(in_streams) as s (name));
  found bigint;
begin
  perform from public.sites where id = any (in_sites) order by id for no key update;
  select count(*) into found from event_log.streams where name = any (names);
  if found < cardinality(names) then
    insert into event_log.streams (name)
      select s.name from unnest(names) as s (name)
       where not exists (select from event_log.streams t where t.name = s.name) order by s.name
    on conflict do nothing;
  end if;
  with given as (
    select g.*, row_number() over (partition by g.stream order by g.n) as place
      from unnest(in_streams, in_ids, in_types, in_data, in_sealed_before)
             with ordinality as g (stream, id, type, data, sealed_before, n)
  ), totals as (
    select g.stream, count(*) as events, sum(octet_length(g.data)) as bytes from given g group by g.stream
  ), advanced as (
    update event_log.streams s set next_revision = s.next_revision + t.events
      from totals t where s.name = t.stream
    returning s.name, s.number, s.site_id, s.next_revision - t.events as revision, t.events, t.bytes
  ), stored as (
    insert into event_log.events (stream, revision, sealed_before, id, type, data, metadata)
      select a.number, a.revision + g.place - 1, g.sealed_before, g.id, g.type, g.data, ''
        from given g join advanced a on a.name = g.stream order by g.n
  )
  insert into event_log.waiting (site_id, stream, revision, count, bytes)
    select a.site_id, a.number, a.revision, a.events, a.bytes from advanced a;
end
$$;
comment on function event_log.put(uuid[], text[], uuid[], text[], bytea[], timestamptz[]) is
  'Stores events of sites at the end of their streams, and lets them wait for the log.';
revoke all on function event_log.put(uuid[], text[], uuid[], text[], bytea[], timestamptz[]) from public;
grant execute on function event_log.put(uuid[], text[], uuid[], text[], bytea[], timestamptz[])
  to consent_ledger_api, consent_ledger_worker, consent_ledger_admin;

-- The indexes have the orders that are asked for. Without statistics, as under the first load, and with
-- those of a moment at which little waited, the planner would read and sort everything that waits.
create function event_log.first_waiting(in_sites uuid[], in_limit integer)
returns setof event_log.waiting
language plpgsql stable
set enable_sort = off
set enable_bitmapscan = off
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    select r.* from unnest(in_sites) as s (site_id) cross join lateral (
      select w.* from event_log.waiting w
       where w.site_id = s.site_id order by w.site_id, w.number limit in_limit) r;
end
$$;
comment on function event_log.first_waiting(uuid[], integer) is 'The first waiting rows of each site.';
revoke all on function event_log.first_waiting(uuid[], integer) from public;
grant execute on function event_log.first_waiting(uuid[], integer) to consent_ledger_worker;

-- Skips through the index site by site, so its cost does not grow with the number of waiting rows.
create function event_log.waiting_sites(in_after uuid, in_limit integer)
returns table (site_id uuid, created_at timestamptz)
language plpgsql stable
set enable_sort = off
set enable_bitmapscan = off
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    with recursive found as (
      (select w.site_id, w.created_at, 1 as n from event_log.waiting w where w.site_id > in_after
        order by w.site_id, w.number limit 1)
      union all
      select next.site_id, next.created_at, f.n + 1 from found f cross join lateral (
        select w.site_id, w.created_at from event_log.waiting w where w.site_id > f.site_id
         order by w.site_id, w.number limit 1) next
       where f.n < in_limit
    )
    select f.site_id, f.created_at from found f;
end
$$;
comment on function event_log.waiting_sites(uuid, integer) is
  'The next sites with waiting events after a site, in order, each with the time of the first one.';
revoke all on function event_log.waiting_sites(uuid, integer) from public;
grant execute on function event_log.waiting_sites(uuid, integer) to consent_ledger_api, consent_ledger_worker;

-- The lock of the log is held from the first position that a transaction gives until its commit. This
-- makes the order of positions the order of commits. (The lock is released after the commit is visible,
-- so that the snapshot of the next holder includes it.)
create function event_log.lock_log() returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
begin
  -- A stricter isolation takes its snapshot before the lock: what is read after it would be stale.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'the event log needs read committed' using errcode = 'invalid_transaction_state';
  end if;
  if current_setting('synchronous_commit') not in ('on', 'remote_apply') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  perform pg_advisory_xact_lock(1129071687, 1);
end
$$;
comment on function event_log.lock_log() is 'Makes the transaction the only one that gives positions of the log.';
revoke all on function event_log.lock_log() from public;

create function event_log.last_of(in_stream integer) returns bigint
language sql stable set search_path = pg_catalog, pg_temp as $$
  select coalesce((select r.revision + r.count - 1 from event_log.runs r
                    where r.stream = in_stream order by r.revision desc limit 1), -1)
$$;
comment on function event_log.last_of(integer) is 'The last revision of a stream that has a position; -1: none.';

-- Gives positions to runs of waiting events in the given order. Run n consists of the waiting rows whose
-- in_owners is n. Returns for each run the last revision of its stream before it if the run cannot follow
-- it, because revisions between them are missing; nothing happens to such a run. Null: it has positions.
-- Fails, and does nothing, if a row did not wait as stated: another process was first.
create function event_log.sequence(
  in_streams integer[], in_revisions bigint[], in_counts integer[],
  in_owners integer[], in_sites uuid[], in_numbers bigint[]
) returns bigint[]
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
-- Each row is looked up by its key, in an order that leaves the planner no choice: with statistics of a
-- moment at which little waited, it would compare everything that waits with each row of the page.
set enable_bitmapscan = off
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  refused bigint[];
  head bigint;
  expected bigint;
  found bigint;
begin
  perform event_log.lock_log();
  select count(*), coalesce(sum(w.count), 0) into expected, found
    from unnest(in_sites, in_numbers) as g (site_id, number)
    join lateral (select o.count from event_log.waiting o where o.site_id = g.site_id and o.number = g.number limit 1) w on true;
  if expected <> cardinality(in_numbers) or found <> (select sum(c) from unnest(in_counts) as c) then
    raise exception 'events got their positions from another process' using errcode = 'serialization_failure';
  end if;
  select coalesce((select r.position + r.count - 1 from event_log.runs r order by r.position desc limit 1), 0) into head;
  -- The last revision before a run is that of the log, or that of an earlier run of the stream here.
  with given as (
    select g.*, g.revision + g.count - 1 as until, event_log.last_of(g.stream) as logged
      from unnest(in_streams, in_revisions, in_counts) with ordinality as g (stream, revision, count, n)
  ), following as (
    select g.*, greatest(g.logged, max(g.until) over (
             partition by g.stream order by g.n rows between unbounded preceding and 1 preceding)) as last
      from given g
  ), judged as (
    select f.*, min(f.last) filter (where f.last < f.revision - 1) over (partition by f.stream order by f.n) as ends_at
      from following f
  ), placed as (
    -- A log that was copied here may have some of them.
    insert into event_log.runs (position, stream, revision, count)
      select head + sum(j.until - j.last) over (order by j.n) - (j.until - j.last) + 1, j.stream, j.last + 1, j.until - j.last
        from judged j where j.ends_at is null and j.until > j.last
  )
  select array_agg(j.ends_at order by j.n) into refused from judged j;
  delete from event_log.waiting where ctid = any (array(
    select w.ctid from unnest(in_owners, in_sites, in_numbers) as g (owner, site_id, number)
     cross join lateral (select o.ctid from event_log.waiting o
       where o.site_id = g.site_id and o.number = g.number limit 1) w
     where refused[g.owner] is null));
  get diagnostics found = row_count;
  if found <> (select count(*) from unnest(in_owners) as g (owner) where refused[owner] is null) then
    raise exception 'events got their positions from another process' using errcode = 'serialization_failure';
  end if;
  perform pg_notify('consent_ledger_event_log', '');
  return refused;
end
$$;
comment on function event_log.sequence(integer[], bigint[], integer[], integer[], uuid[], bigint[]) is
  'Gives positions of the postgres log to runs of waiting events, and wakes subscribers.';
revoke all on function event_log.sequence(integer[], bigint[], integer[], integer[], uuid[], bigint[]) from public;
grant execute on function event_log.sequence(integer[], bigint[], integer[], integer[], uuid[], bigint[])
  to consent_ledger_worker;

-- Records that another log has the first in_counts events of waiting rows, which begin at in_revisions.
-- Fails, and does nothing, if a row did not wait as stated: another process was first.
create function event_log.relayed(in_sites uuid[], in_numbers bigint[], in_revisions bigint[], in_counts integer[])
returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
set enable_bitmapscan = off
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  found bigint;
  shortened bigint;
begin
  with given as (
    select g.count, w.ctid as place, w.count as waits
      from unnest(in_sites, in_numbers, in_revisions, in_counts) as g (site_id, number, revision, count)
     cross join lateral (select o.ctid, o.count, o.revision from event_log.waiting o
       where o.site_id = g.site_id and o.number = g.number limit 1) w
     where w.revision = g.revision
  ), rest as (
    update event_log.waiting w set revision = w.revision + g.count, count = w.count - g.count,
           bytes = (select sum(octet_length(e.data)) from event_log.events e
                     where e.stream = w.stream and e.revision between w.revision + g.count and w.revision + w.count - 1)
      from given g where w.ctid = g.place and g.count < g.waits
    returning 1
  ), gone as (
    delete from event_log.waiting w using given g where w.ctid = g.place and g.count = g.waits
    returning 1
  )
  select (select count(*) from gone), (select count(*) from rest) into found, shortened;
  if found + shortened <> cardinality(in_numbers) then
    raise exception 'events were relayed by another process' using errcode = 'serialization_failure';
  end if;
end
$$;
comment on function event_log.relayed(uuid[], bigint[], bigint[], integer[]) is
  'Records that another log has the first events of waiting rows.';
revoke all on function event_log.relayed(uuid[], bigint[], bigint[], integer[]) from public;
grant execute on function event_log.relayed(uuid[], bigint[], bigint[], integer[]) to consent_ledger_worker;

-- Moves the waiting events of a stream of a site, from which some were taken, so that they follow in_end.
-- in_gone are the ids of events that the log has already, and in_aside of those that no log may have. Both
-- are taken out of what waits. The others keep their order, also that between the streams of the site.
-- Neither a record nor a promise contains a revision, so that nothing that was answered changes.
create function event_log.rebase(in_stream text, in_end bigint, in_gone uuid[], in_aside uuid[])
returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
  found event_log.streams;
  row event_log.waiting;
  next bigint := in_end + 1;
  kept integer;
begin
  perform event_log.lock_log();
  insert into event_log.streams (name) values (in_stream) on conflict do nothing;
  perform from public.sites s join event_log.streams t on t.site_id = s.id where t.name = in_stream for no key update of s;
  select * into strict found from event_log.streams where name = in_stream for update;
  create temporary table moved on commit drop as
    select e.*, w.number from event_log.waiting w join event_log.events e
        on e.stream = w.stream and e.revision between w.revision and w.revision + w.count - 1
     where w.site_id = found.site_id and w.stream = found.number;
  insert into event_log.set_aside (id, stream, type, data)
    select m.id, in_stream, m.type, m.data from moved m where m.id = any (in_aside) order by m.revision;
  delete from event_log.events e using moved m where e.stream = m.stream and e.revision = m.revision;
  for row in select * from event_log.waiting where site_id = found.site_id and stream = found.number order by number loop
    insert into event_log.events (stream, revision, sealed_before, id, type, data, metadata)
      select m.stream, next - 1 + row_number() over (order by m.revision), m.sealed_before, m.id, m.type, m.data, m.metadata
        from moved m where m.number = row.number and m.id <> all (in_gone || in_aside);
    get diagnostics kept = row_count;
    if kept = 0 then
      delete from event_log.waiting where site_id = row.site_id and number = row.number;
    else
      update event_log.waiting w set revision = next, count = kept,
             bytes = (select sum(octet_length(e.data)) from event_log.events e
                       where e.stream = w.stream and e.revision between next and next + kept - 1)
       where site_id = row.site_id and number = row.number;
    end if;
    next := next + kept;
  end loop;
  update event_log.streams set next_revision = next where number = found.number;
  drop table moved;
end
$$;
comment on function event_log.rebase(text, bigint, uuid[], uuid[]) is
  'Moves the waiting events of a stream to the revisions after one, without those that are gone or set aside.';
revoke all on function event_log.rebase(text, bigint, uuid[], uuid[]) from public;
grant execute on function event_log.rebase(text, bigint, uuid[], uuid[]) to consent_ledger_worker;

-- Appends events to several streams of the postgres log, each as if alone: its events are written if the
-- revision of its last event is in_expected (-1: it has none). The events are those of in_ids to
-- in_metadata, in the order of the log; in_owners says to which stream each belongs, counted from 1, and
-- in_revisions at which revision. Sets for each stream outcomes to
--   appended  its events were written
--   present   exactly these events are there already: an earlier try whose answer was lost
--   conflict  the stream has other events after in_expected
-- and last_revisions to the last revision that it had before. Rows that wait, or were kept for another
-- log, get their positions if they are the same events.
create function event_log.append(
  in_streams text[], in_expected bigint[],
  in_owners integer[], in_revisions bigint[], in_ids uuid[], in_types text[], in_data bytea[], in_metadata bytea[],
  out outcomes text[], out last_revisions bigint[]
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
  head bigint;
  numbers integer[];
begin
  perform event_log.lock_log();
  insert into event_log.streams (name)
    select s.name from unnest(in_streams) as s (name)
     where not exists (select from event_log.streams t where t.name = s.name) order by s.name
  on conflict do nothing;
  numbers := array(
    select (select t.number from event_log.streams t where t.name = s.name)
      from unnest(in_streams) with ordinality as s (name, n) order by n);
  last_revisions := array(
    select coalesce((select max(e.revision) from event_log.events e
                      where e.stream = s.number and e.revision <= event_log.last_of(s.number)), -1)
      from unnest(numbers) with ordinality as s (number, n) order by n);
  outcomes := array(
    select case
        when s.last = s.expected then
          case when exists (
            select from unnest(in_owners, in_revisions, in_ids, in_types, in_data, in_metadata)
                as g (owner, revision, id, type, data, metadata)
              join event_log.events e on e.stream = s.number and e.revision = g.revision
             where g.owner = s.n and (e.id, e.type, e.data, e.metadata) <> (g.id, g.type, g.data, g.metadata))
          then 'conflict' else 'appended' end
        when exists (
          select from unnest(in_owners, in_revisions, in_ids, in_types, in_data, in_metadata)
              as g (owner, revision, id, type, data, metadata)
           where g.owner = s.n and (g.revision > s.last or not exists (
             select from event_log.events as e
              where e.stream = s.number and e.revision = g.revision
                and e.id = g.id and e.type = g.type and e.data = g.data and e.metadata = g.metadata)))
        then 'conflict'
        else 'present'
      end
      from unnest(numbers, in_expected, last_revisions) with ordinality as s (number, expected, last, n) order by n);
  if not 'appended' = any (outcomes) then
    return;
  end if;

  insert into event_log.events (stream, revision, id, type, data, metadata)
    select numbers[g.owner], g.revision, g.id, g.type, g.data, g.metadata
      from unnest(in_owners, in_revisions, in_ids, in_types, in_data, in_metadata)
             as g (owner, revision, id, type, data, metadata)
     where outcomes[g.owner] = 'appended'
  on conflict (stream, revision) do nothing;
  select coalesce((select r.position + r.count - 1 from event_log.runs r order by r.position desc limit 1), 0) into head;
  insert into event_log.runs (position, stream, revision, count)
    select head + 1 + coalesce(sum(g.events) over (order by g.owner rows between unbounded preceding and 1 preceding), 0),
           numbers[g.owner], in_expected[g.owner] + 1, g.events
      from (select owner, count(*) as events from unnest(in_owners) as o (owner)
             where outcomes[owner] = 'appended' group by owner) g;
  update event_log.streams s
     set next_revision = greatest(s.next_revision, in_expected[g.owner] + g.events + 1)
    from (select owner, count(*) as events from unnest(in_owners) as o (owner)
           where outcomes[owner] = 'appended' group by owner) g
   where s.number = numbers[g.owner];
  perform pg_notify('consent_ledger_event_log', '');
end
$$;
comment on function event_log.append(text[], bigint[], integer[], bigint[], uuid[], text[], bytea[], bytea[]) is
  'Appends events to each stream whose last revision is the expected one, and wakes subscribers.';
revoke all on function event_log.append(text[], bigint[], integer[], bigint[], uuid[], text[], bytea[], bytea[]) from public;
grant execute on function event_log.append(text[], bigint[], integer[], bigint[], uuid[], text[], bytea[], bytea[])
  to consent_ledger_worker;
