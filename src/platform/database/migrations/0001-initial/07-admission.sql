-- Runs beside: nothing
-- Rows that admission writes in one transaction: the key of the record, its attachments, the
-- approval token that is used, the quota, and the event on its way to the log.

create table record_keys (
  event_id uuid primary key,
  site_id uuid not null,
  seed bytea not null,
  visitor_index bytea,
  email_index bytea,
  phone_index bytea,
  id_number_index bytea,
  seal bytea not null
);
-- The event id gives the records of a person in order. Without statistics on the indexes
-- (19-planner-statistics.sql) the planner would otherwise follow the primary key through all records.
create index record_keys_by_visitor on record_keys (site_id, visitor_index, event_id) where visitor_index is not null;
create index record_keys_by_email on record_keys (site_id, email_index, event_id) where email_index is not null;
create index record_keys_by_phone on record_keys (site_id, phone_index, event_id) where phone_index is not null;
create index record_keys_by_id_number on record_keys (site_id, id_number_index, event_id) where id_number_index is not null;

comment on table record_keys is
  'One row for each record that is not erased. Deleting the row destroys the key of the record''s personal data.';
comment on column record_keys.event_id is 'Id of the ConsentRecorded event.';
comment on column record_keys.site_id is 'Site that the consent was given on.';
comment on column record_keys.seed is 'Random bytes that the key of the record is derived from, with the key of the site.';
comment on column record_keys.visitor_index is 'Blind index (keyed hash) of the visitor id; null: none was given.';
comment on column record_keys.email_index is 'Blind index of the e-mail address; null: none was given.';
comment on column record_keys.phone_index is 'Blind index of the phone number; null: none was given.';
comment on column record_keys.id_number_index is 'Blind index of the identity number; null: none was given.';
comment on column record_keys.seal is
  'Keyed hash of the row under the key of the record. A row that fails it is left out and reported.';

create table attachments (
  id uuid primary key,
  event_id uuid not null,
  site_id uuid not null,
  ciphertext bytea not null
);
create index attachments_by_event on attachments (event_id);
-- Ciphertext does not compress.
alter table attachments alter column ciphertext set storage external;

comment on table attachments is 'Large contents of records, such as a signed document.';
comment on column attachments.id is 'Random identifier. It is not derived from the content, which it would reveal.';
comment on column attachments.event_id is 'Record that the content belongs to.';
comment on column attachments.site_id is 'Site of the record.';
comment on column attachments.ciphertext is 'The content, encrypted under the key of the record.';

create table approval_tokens (
  id text primary key,
  site_id uuid not null references sites,
  digest bytea not null unique,
  document_id uuid not null references documents,
  document_version_id uuid references document_versions,
  custom_document_hash text,
  seed bytea not null,
  identity bytea not null,
  visitor_index bytea,
  email_index bytea,
  phone_index bytea,
  id_number_index bytea,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  consumed_by uuid,
  seal bytea
);
create index approval_tokens_by_visitor on approval_tokens (site_id, visitor_index) where visitor_index is not null;
create index approval_tokens_by_email on approval_tokens (site_id, email_index) where email_index is not null;
create index approval_tokens_by_phone on approval_tokens (site_id, phone_index) where phone_index is not null;
create index approval_tokens_by_id_number on approval_tokens (site_id, id_number_index) where id_number_index is not null;
create index approval_tokens_by_consumer on approval_tokens (consumed_by) where consumed_by is not null;
create index approval_tokens_unused on approval_tokens (expires_at) where consumed_by is null;

comment on table approval_tokens is
  'Statements of a backend about the identity of the person who is going to approve a document.';
comment on column approval_tokens.id is 'Identifier (atk_...); not secret.';
comment on column approval_tokens.site_id is 'Site that the token is for.';
comment on column approval_tokens.digest is 'SHA-256 of the token, which has 256 random bits.';
comment on column approval_tokens.document_id is 'Document that may be approved with it.';
comment on column approval_tokens.document_version_id is 'Only this version may be approved; null: any active version.';
comment on column approval_tokens.custom_document_hash is
  'SHA-256 that the custom document of the consent must have; null: not restricted.';
comment on column approval_tokens.seed is 'Random bytes that the key of identity is derived from.';
comment on column approval_tokens.identity is 'What the backend states about the person, encrypted.';
comment on column approval_tokens.visitor_index is 'Blind index of the visitor id; null: none was given.';
comment on column approval_tokens.email_index is 'Blind index of the e-mail address; null: none was given.';
comment on column approval_tokens.phone_index is 'Blind index of the phone number; null: none was given.';
comment on column approval_tokens.id_number_index is 'Blind index of the identity number; null: none was given.';
comment on column approval_tokens.created_at is 'Time of creation.';
comment on column approval_tokens.expires_at is 'Time from which the token is refused.';
comment on column approval_tokens.consumed_by is 'Record that used the token; null: unused.';
comment on column approval_tokens.seal is
  'Keyed hash of the row (20-row-seals.sql); null or wrong: the row was altered, and grants nothing.';

create table consent_usage (
  tenant_id uuid not null references tenants,
  month date not null,
  used bigint not null,
  primary key (tenant_id, month)
);

comment on table consent_usage is 'Consents that each tenant used in a calendar month, counted against its quota.';
comment on column consent_usage.tenant_id is 'Tenant whose consents are counted.';
comment on column consent_usage.month is 'First day of the month (UTC).';
comment on column consent_usage.used is 'Consents admitted in the month.';

create table outbox (
  seq bigint generated always as identity primary key,
  site_id uuid not null,
  stream text not null,
  event_id uuid not null,
  type text not null,
  body bytea not null,
  created_at timestamptz not null default now(),
  sealed_before timestamptz
);
-- Ciphertext does not compress, and the usual body of an event, a little above 2 kB, is cheaper in
-- its row than beside it.
alter table outbox set (toast_tuple_target = 8160);
alter table outbox alter column body set storage external;

comment on table outbox is
  'Complete events on their way to the event log. Rows are never changed: PostgreSQL would write their bodies again.';
comment on column outbox.seq is 'Order in which the events of a site are relayed.';
comment on column outbox.site_id is 'Site whose event it is.';
comment on column outbox.stream is 'Stream of the log that it is appended to.';
comment on column outbox.event_id is 'Id of the event.';
comment on column outbox.type is 'Type of the event with its version.';
comment on column outbox.body is 'Body of the event, exactly as the log receives it.';
comment on column outbox.created_at is 'Time of the transaction that wrote it.';
comment on column outbox.sealed_before is 'Time before which the consent is sealed, as promised; null: no consent.';

create table outbox_waiting (
  site_id uuid not null,
  seq bigint not null,
  size integer not null,
  primary key (site_id, seq)
);
-- Every row is deleted soon after it was inserted. The scale factor and threshold of a usual table would
-- let the index grow by what is dead; giving space back at the end locks out those who insert.
alter table outbox_waiting set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_insert_threshold = -1, vacuum_truncate = off);

comment on table outbox_waiting is 'One row for each row of the outbox that the log does not have yet.';
comment on column outbox_waiting.site_id is 'Site of the event.';
comment on column outbox_waiting.seq is 'Row of the outbox.';
comment on column outbox_waiting.size is 'Bytes of its body.';

create table outbox_relayed (
  seq bigint primary key,
  revision bigint not null
);

comment on table outbox_relayed is 'One row for each row of the outbox that the log has.';
comment on column outbox_relayed.seq is 'Row of the outbox.';
comment on column outbox_relayed.revision is 'Revision of the event in its stream.';

-- In a trigger, so that no writer of the outbox can leave it out, or let anything else wait.
create function let_events_wait() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into public.outbox_waiting (site_id, seq, size) select site_id, seq, octet_length(body) from written;
  return null;
end
$$;
comment on function let_events_wait() is 'Adds the rows of the outbox that a statement inserted to those that wait.';
revoke all on function let_events_wait() from public;

create trigger events_wait after insert on outbox referencing new table as written
  for each statement execute function let_events_wait();

-- The indexes have the orders that are asked for. Without statistics, as under the first load, and with
-- those of a moment at which little waited, the planner would read and sort everything that waits.
create function first_waiting(in_sites uuid[], in_limit integer)
returns table (seq bigint, site_id uuid, size integer)
language plpgsql stable
set enable_sort = off
set enable_bitmapscan = off
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    select r.seq, r.site_id, r.size from unnest(in_sites) as s (site_id) cross join lateral (
      select w.seq, w.site_id, w.size from outbox_waiting w
       where w.site_id = s.site_id order by w.site_id, w.seq limit in_limit) r;
end
$$;
comment on function first_waiting(uuid[], integer) is
  'The first waiting rows of the outbox of each site, with the bytes of their bodies.';
revoke all on function first_waiting(uuid[], integer) from public;
grant execute on function first_waiting(uuid[], integer) to consent_ledger_worker;

-- Skips through the index site by site, so its cost does not grow with the number of waiting rows.
create function waiting_sites(in_after uuid, in_limit integer)
returns table (site_id uuid, seq bigint)
language plpgsql stable
set enable_sort = off
set enable_bitmapscan = off
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    with recursive found as (
      (select w.site_id, w.seq, 1 as n from outbox_waiting w where w.site_id > in_after
        order by w.site_id, w.seq limit 1)
      union all
      select next.site_id, next.seq, f.n + 1 from found f cross join lateral (
        select w.site_id, w.seq from outbox_waiting w where w.site_id > f.site_id
         order by w.site_id, w.seq limit 1) next
       where f.n < in_limit
    )
    select f.site_id, f.seq from found f;
end
$$;
comment on function waiting_sites(uuid, integer) is
  'The next sites with waiting rows of the outbox after a site, in order, each with its first one.';
revoke all on function waiting_sites(uuid, integer) from public;
grant execute on function waiting_sites(uuid, integer) to consent_ledger_api, consent_ledger_worker;

-- Records that the log has events of several streams, of one site each: those after in_before, up to
-- in_after. Of these events, the rows in_seqs of the outbox wait no longer: in_owners says to which
-- stream each belongs, counted from 1, and in_revisions where it is. Returns for each stream whether it
-- was recorded at in_before; nothing is recorded for the others. Fails, and records nothing, if a row
-- did not wait.
create function mark_relayed(
  in_streams text[], in_sites uuid[], in_before bigint[], in_after bigint[],
  in_owners integer[], in_seqs bigint[], in_revisions bigint[]
) returns boolean[]
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
-- Each row is looked up by its key, in an order that leaves the planner no choice: with statistics of a
-- moment at which little waited, it would compare everything that waits with each row of the page.
set enable_bitmapscan = off
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  is_recorded boolean[];
  expected bigint;
  found bigint;
begin
  -- Nothing else writes to these tables while rows are inserted, so what is read below stays true.
  perform pg_advisory_xact_lock(1129071687, 2);

  is_recorded := array(
    select coalesce((select r.revision from public.relayed_streams r where r.stream = g.stream), -1) = g.before
      from unnest(in_streams, in_before) with ordinality as g (stream, before, n) order by n);
  insert into public.relayed_streams (stream, revision)
    select g.stream, g.after from unnest(in_streams, in_after) with ordinality as g (stream, after, n)
     where is_recorded[n]
  on conflict (stream) do update set revision = excluded.revision;

  select count(*) into expected from unnest(in_owners) as g (owner) where is_recorded[owner];
  delete from public.outbox_waiting where ctid = any (array(
    select w.ctid from unnest(in_owners, in_seqs) as g (owner, seq)
     cross join lateral (select o.ctid from public.outbox_waiting o
       where o.site_id = in_sites[g.owner] and o.seq = g.seq limit 1) w
     where is_recorded[g.owner]));
  get diagnostics found = row_count;
  if found <> expected then
    raise exception 'rows of the outbox were relayed by another process' using errcode = 'serialization_failure';
  end if;
  insert into public.outbox_relayed (seq, revision)
    select g.seq, g.revision from unnest(in_owners, in_seqs, in_revisions) as g (owner, seq, revision)
     where is_recorded[g.owner]
  -- Only somebody with the rights of the owner can have put it there. The auditor reports it until then.
  on conflict (seq) do update set revision = excluded.revision;
  return is_recorded;
end
$$;
comment on function mark_relayed(text[], uuid[], bigint[], bigint[], integer[], bigint[], bigint[]) is
  'Records that the log has rows of the outbox, for each stream that is recorded at the expected revision.';
revoke all on function mark_relayed(text[], uuid[], bigint[], bigint[], integer[], bigint[], bigint[]) from public;
grant execute on function mark_relayed(text[], uuid[], bigint[], bigint[], integer[], bigint[], bigint[])
  to consent_ledger_worker;

create table relayed_streams (
  stream text primary key,
  revision bigint not null
);

comment on table relayed_streams is 'How far each stream is relayed.';
comment on column relayed_streams.stream is 'Name of the stream.';
comment on column relayed_streams.revision is 'Last revision that the log is known to have.';

create table quarantined_sites (
  site_id uuid primary key,
  reason text not null,
  quarantined_at timestamptz not null default now()
);

comment on table quarantined_sites is
  'Quarantined sites: the log refused an append for good, and the relay stops until an operator acts.';
comment on column quarantined_sites.site_id is 'Site whose relay stopped.';
comment on column quarantined_sites.reason is 'Why the log refused.';
comment on column quarantined_sites.quarantined_at is 'Time at which the relay stopped.';
