/**
 * Erasure: what was asked for until it is done, which records are erased, and how far what the log and the journal say was applied to the key table.
 * Exports: which ones run, so that an erasure can cancel them; and the keys of those that the service keeps.
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
  finished_at timestamptz,
  check (finished_at is null or blind_index is null)
);
create index erasure_requests_open on erasure_requests (requested_at) where finished_at is null;

-- Which SubjectErased lists a record.
create table erased_records (
  event_id uuid primary key,
  erasure_event_id uuid not null
);

-- Up to where the SubjectErased of the log, and the lines of the journal, were applied to the key table.
create table erasure_progress (
  is_only_row boolean primary key default true check (is_only_row),
  log_position text,
  journal_offset bigint not null default 0
);

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

grant select on erasure_requests, erased_records, erasure_progress, exports to consent_ledger_api, consent_ledger_worker;
grant insert, update on erasure_requests, exports to consent_ledger_api, consent_ledger_worker;
grant insert on erased_records to consent_ledger_worker;
grant insert, update on erasure_progress to consent_ledger_worker;
-- Locking a site's row needs the right to change something of it.
grant update (config_revision) on sites to consent_ledger_worker;
`;
