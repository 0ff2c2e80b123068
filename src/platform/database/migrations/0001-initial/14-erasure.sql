-- Runs beside: nothing
-- Erasure: what was asked for until it is done, which records are erased, and how far the log and the
-- journal were applied to the table of record keys.

create table erasure_requests (
  id uuid primary key,
  site_id uuid not null references sites,
  channel text not null default 'operator' check (channel in ('panel', 's2s', 'operator', 'service')),
  request_digest bytea,
  reason text not null check (reason in ('person', 'record', 'retention')),
  index_kind text check (index_kind in ('visitor', 'email', 'phone', 'id_number')),
  blind_index bytea,
  event_id uuid,
  requested_at timestamptz not null default now(),
  erased_count bigint not null default 0,
  deleted_token_count bigint not null default 0,
  cancelled_export_count bigint not null default 0,
  destroyed_package_count bigint not null default 0,
  finished_at timestamptz,
  seal bytea,
  -- Nothing that identifies the person stays after the erasure.
  check (finished_at is null or blind_index is null)
);
create index erasure_requests_open on erasure_requests (requested_at) where finished_at is null;
create unique index erasure_requests_once on erasure_requests (request_digest) where request_digest is not null;
create index erasure_requests_by_site on erasure_requests (site_id, id);

comment on table erasure_requests is 'Erasures that were requested, and what each of them did.';
comment on column erasure_requests.id is 'Identifier of the erasure.';
comment on column erasure_requests.site_id is 'Site whose records are erased.';
comment on column erasure_requests.channel is 'Who requested it: the panel, a backend (s2s), an operator, or the service itself.';
comment on column erasure_requests.request_digest is
  'Keyed hash of the idempotency key and of what is erased: a repeated request finds its erasure. Null: no idempotency key.';
comment on column erasure_requests.reason is 'person, record, or retention: the retention period of the site is over.';
comment on column erasure_requests.index_kind is 'By person: which blind index identifies the person.';
comment on column erasure_requests.blind_index is 'By person: value of the blind index, until the erasure is finished.';
comment on column erasure_requests.event_id is
  'By record: id of its event. By retention: records with lower event ids are erased.';
comment on column erasure_requests.requested_at is 'Time of the request.';
comment on column erasure_requests.erased_count is 'Records erased.';
comment on column erasure_requests.deleted_token_count is 'Approval tokens deleted.';
comment on column erasure_requests.cancelled_export_count is 'Running exports cancelled.';
comment on column erasure_requests.destroyed_package_count is
  'Finished packages kept by the service whose keys were destroyed.';
comment on column erasure_requests.finished_at is 'Time at which it was done; null: not finished.';
comment on column erasure_requests.seal is
  'Keyed hash of the row (20-row-seals.sql); null or wrong: the row was altered, and erases nothing.';

create table erasure_events (
  event_id uuid primary key,
  request_id uuid references erasure_requests
);
create index erasure_events_by_request on erasure_events (request_id);

comment on table erasure_events is 'Every SubjectErased event, one for each erased record.';
comment on column erasure_events.event_id is 'Id of the SubjectErased event.';
comment on column erasure_events.request_id is
  'Erasure that it belongs to; null: the log or the journal brought it back after a restore.';

create table erased_records (
  event_id uuid primary key,
  site_id uuid not null,
  reason text not null check (reason in ('person', 'record', 'retention')),
  request_id uuid references erasure_requests,
  erasure_event_id uuid
);
create index erased_records_unannounced on erased_records (site_id) where erasure_event_id is null;
create index erased_records_by_request on erased_records (request_id) where erasure_event_id is null;

comment on table erased_records is 'Erased records.';
comment on column erased_records.event_id is 'Id of the ConsentRecorded event.';
comment on column erased_records.site_id is 'Site of the record.';
comment on column erased_records.reason is 'person, record, or retention: the retention period of the site is over.';
comment on column erased_records.request_id is
  'Erasure that destroyed the key; null: the log or the journal brought it back after a restore.';
comment on column erased_records.erasure_event_id is
  'SubjectErased event that names the record; null: it is not announced yet.';

create table erasure_progress (
  is_only_row boolean primary key default true check (is_only_row),
  log_kind text,
  log_position text,
  journal_offset bigint not null default 0,
  announced_at timestamptz not null default now()
);
insert into erasure_progress default values;

comment on table erasure_progress is
  'Up to where erasures of the log and of the journal were applied to record_keys (one row).';
comment on column erasure_progress.is_only_row is 'Always true: allows one row only.';
comment on column erasure_progress.log_kind is
  'Adapter that log_position belongs to: positions of another adapter mean nothing. Null: none yet.';
comment on column erasure_progress.log_position is 'Position in the log; null: nothing yet.';
comment on column erasure_progress.journal_offset is 'Offset in the journal file, in bytes.';
comment on column erasure_progress.announced_at is 'When the collected announcements were queued last.';

create table scrubs (
  started_at timestamptz primary key,
  finished_at timestamptz not null
);

comment on table scrubs is
  'Each time that deleted rows were removed from the files of the database (admin scrub, run as the owner of the tables).';
comment on column scrubs.started_at is 'Start: rows deleted before are gone from the files.';
comment on column scrubs.finished_at is 'End.';
