/**
 * Erasure: what was asked for until it is done, which records are erased, and how far what the log and the journal say was applied to the key table.
 * Exports: which ones run, so that an erasure can cancel them; the keys of those that the service keeps; and who may sign manifests.
 */
export const erasureAndExportsSql = `
create table erasure_requests (
  id uuid primary key,
  site_id uuid not null references sites,
  reason text not null check (reason in ('person', 'record', 'retention')),
  -- By person: which blind index, and its value until the erasure is finished.
  index_kind text check (index_kind in ('visitor', 'email', 'phone', 'id_number')),
  blind_index bytea,
  -- By record: its event id. By retention: records whose event id is below.
  event_id uuid,
  requested_at timestamptz not null default now(),
  erased_count bigint not null default 0,
  deleted_token_count bigint not null default 0,
  cancelled_export_count bigint not null default 0,
  finished_at timestamptz,
  check (finished_at is null or blind_index is null)
);
create index erasure_requests_open on erasure_requests (requested_at) where finished_at is null;

-- Every SubjectErased that is in the outbox or the log. request_id is null where the log or the journal brought it back after a restore.
create table erasure_events (
  event_id uuid primary key,
  request_id uuid references erasure_requests
);
create index erasure_events_by_request on erasure_events (request_id);

-- Which SubjectErased lists a record.
create table erased_records (
  event_id uuid primary key,
  erasure_event_id uuid not null
);

-- Up to where the SubjectErased of the log, and the lines of the journal, were applied to the key table.
create table erasure_progress (
  is_only_row boolean primary key default true check (is_only_row),
  -- The adapter whose position it is: positions of another one mean nothing.
  log_kind text,
  log_position text,
  journal_offset bigint not null default 0
);
insert into erasure_progress default values;

create index approval_tokens_by_email on approval_tokens (site_id, email_index) where email_index is not null;
create index approval_tokens_by_phone on approval_tokens (site_id, phone_index) where phone_index is not null;
create index approval_tokens_by_id_number on approval_tokens (site_id, id_number_index) where id_number_index is not null;

create table exports (
  id uuid primary key,
  site_id uuid not null references sites,
  state text not null check (state in ('running', 'finished', 'cancelled', 'failed')),
  requested_by text not null,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  -- What the key of a package kept by the service is made from; null for packages written elsewhere.
  seed bytea
);
create index exports_by_site on exports (site_id) where state = 'running' or seed is not null;

-- Signed notes by which a ledger key certifies a key that signs manifests.
create table manifest_certificates (
  manifest_key bytea not null,
  ledger_key text not null,
  certificate text not null,
  created_at timestamptz not null default now(),
  primary key (manifest_key, ledger_key)
);

grant select on erasure_requests, erasure_events, erased_records, erasure_progress, exports, manifest_certificates
  to consent_ledger_api, consent_ledger_worker;
grant insert, update on exports to consent_ledger_api, consent_ledger_worker;
grant insert on erasure_requests to consent_ledger_api;
grant insert, update on erasure_requests to consent_ledger_worker;
grant insert on erasure_events, erased_records, manifest_certificates to consent_ledger_worker;
grant update on erasure_progress to consent_ledger_worker;
-- Locking a site's row needs the right to change something of it.
grant update (config_revision) on sites to consent_ledger_worker;
`;
