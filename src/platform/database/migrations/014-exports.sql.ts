/**
 * Evidence exports as jobs. The row in `exports` holds what an erasure must reach: the seed of the key under which the finished package, and a person
 * named by the filter, are encrypted. A job that is worked on is still `queued` there: each run has a row of its own, and it is that which an erasure
 * counts as stopped.
 */
export const exportsSql = `
alter table exports drop constraint exports_state_check;
alter table exports add constraint exports_state_check
  check (state in ('queued', 'running', 'finished', 'cancelled', 'failed', 'expired'));

create table export_jobs (
  export_id uuid primary key references exports,
  tenant_id uuid not null references tenants,
  site_id uuid not null references sites,
  -- The user who asked for it, and by which door.
  requested_by uuid not null,
  channel text not null check (channel in ('panel', 's2s')),
  requested_at timestamptz not null default clock_timestamp(),
  -- The filter but for a person, whose identifier is encrypted until the job has ended.
  filter jsonb not null,
  by_visitor boolean not null,
  sealed_visitor bytea,
  disclose jsonb not null,
  -- Which run works on it; null while none does.
  claim uuid,
  attempts integer not null default 0,
  retry_at timestamptz,
  heartbeat_at timestamptz,
  started_at timestamptz,
  step text,
  done bigint,
  total bigint,
  bytes bigint not null default 0,
  -- Why it was cancelled, or failed.
  reason text,
  -- Of the finished package.
  chunks integer,
  sha256 bytea,
  checkpoint bigint,
  counts jsonb,
  -- The disclosures by which it can be shown whom the filter was about, encrypted.
  sealed_disclosures bytea,
  expires_at timestamptz,
  -- It is shown no more; its rows go when its chunks are gone.
  deleted_at timestamptz
);
create index export_jobs_by_site on export_jobs (site_id, export_id);
create index export_jobs_by_tenant on export_jobs (tenant_id);

-- A package in pieces, each encrypted and bound to its place.
create table export_chunks (
  export_id uuid not null references export_jobs,
  index integer not null,
  ciphertext bytea not null,
  primary key (export_id, index)
);
-- Ciphertext does not compress.
alter table export_chunks alter column ciphertext set storage external;

grant select on exports to consent_ledger_admin;
grant insert on exports to consent_ledger_admin;
grant update (state, ended_at, seed) on exports to consent_ledger_admin;
grant select, insert on export_jobs to consent_ledger_api;
grant select, insert, update (sealed_visitor, claim, reason, deleted_at) on export_jobs to consent_ledger_admin;
grant select, update, delete on export_jobs to consent_ledger_worker;
grant delete on exports to consent_ledger_worker;
grant select on export_chunks to consent_ledger_api;
grant select, insert, delete on export_chunks to consent_ledger_worker;
`;
