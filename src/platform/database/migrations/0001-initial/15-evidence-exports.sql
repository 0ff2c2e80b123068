-- Runs beside: nothing
-- Evidence exports as background jobs.
--
-- exports holds what an erasure must reach: the state, and the seed of the key under which the finished
-- package, and a person named by the filter, are encrypted. src/platform/exports/export-states.ts
-- makes every change of the state.

create table exports (
  id uuid primary key,
  site_id uuid not null references sites,
  state text not null check (state in ('queued', 'running', 'finished', 'cancelled', 'failed', 'expired')),
  reason text,
  requested_by text not null,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  seed bytea,
  seal bytea
);
create index exports_by_site on exports (site_id) where state = 'running' or seed is not null;

comment on table exports is 'Evidence exports, and the making of single packages and receipts.';
comment on column exports.id is 'Identifier of the export.';
comment on column exports.site_id is 'Site whose records are exported.';
comment on column exports.state is 'queued, running, finished, cancelled, failed or expired.';
comment on column exports.reason is 'Why it was cancelled or failed; null: neither.';
comment on column exports.requested_by is 'Who requested it, as text for the operator.';
comment on column exports.started_at is 'Time of creation.';
comment on column exports.ended_at is 'Time at which it ended; null: not ended.';
comment on column exports.seed is
  'Random bytes that the key of a package kept by the service is derived from; null: the package is kept elsewhere, or destroyed.';
comment on column exports.seal is
  'Keyed hash of the row (20-row-seals.sql); null or wrong: the row was altered.';

create table export_jobs (
  export_id uuid primary key references exports,
  tenant_id uuid not null references tenants,
  site_id uuid not null references sites,
  requested_by uuid not null,
  channel text not null check (channel in ('panel', 's2s')),
  requested_at timestamptz not null default clock_timestamp(),
  filter jsonb not null,
  by_visitor boolean not null,
  sealed_visitor bytea,
  disclose jsonb not null,
  claim uuid,
  attempts integer not null default 0,
  retry_at timestamptz,
  heartbeat_at timestamptz,
  started_at timestamptz,
  step text,
  done bigint,
  total bigint,
  bytes bigint not null default 0,
  chunks integer,
  sha256 bytea,
  checkpoint bigint,
  counts jsonb,
  sealed_disclosures bytea,
  expires_at timestamptz,
  deleted_at timestamptz,
  seal bytea
);
create index export_jobs_by_site on export_jobs (site_id, export_id);
create index export_jobs_by_tenant on export_jobs (tenant_id);

comment on table export_jobs is 'Exports that a worker makes in the background, and whose package the service keeps.';
comment on column export_jobs.export_id is 'The export.';
comment on column export_jobs.tenant_id is 'Tenant of the site.';
comment on column export_jobs.site_id is 'Site whose records are exported.';
comment on column export_jobs.requested_by is 'User or API key that requested it.';
comment on column export_jobs.channel is 'How it was requested: in the panel or by a backend (s2s).';
comment on column export_jobs.requested_at is 'Time of the request.';
comment on column export_jobs.filter is 'Which records are exported, except for a person.';
comment on column export_jobs.by_visitor is 'Whether the filter names a person.';
comment on column export_jobs.sealed_visitor is 'Identifier of the person, encrypted; null: none, or the job has ended.';
comment on column export_jobs.disclose is 'Which personal data the package discloses.';
comment on column export_jobs.claim is 'Run that works on it; null: none.';
comment on column export_jobs.attempts is 'Runs so far.';
comment on column export_jobs.retry_at is 'Time before which no further run starts; null: at once.';
comment on column export_jobs.heartbeat_at is 'Last sign of life of the run; null: no run.';
comment on column export_jobs.started_at is 'Start of the run; null: none yet.';
comment on column export_jobs.step is 'What the run is doing.';
comment on column export_jobs.done is 'Progress within the step.';
comment on column export_jobs.total is 'Amount of work of the step; null: not known.';
comment on column export_jobs.bytes is 'Bytes of the package so far.';
comment on column export_jobs.chunks is 'Chunks of the finished package; null: not finished.';
comment on column export_jobs.sha256 is 'SHA-256 of the finished package; null: not finished.';
comment on column export_jobs.checkpoint is 'Size of the checkpoint that the package ends with; null: not finished.';
comment on column export_jobs.counts is 'What the package contains, counted; null: not finished.';
comment on column export_jobs.sealed_disclosures is
  'Disclosures that prove which person the filter named, encrypted; null: none.';
comment on column export_jobs.expires_at is 'Time from which the package is deleted; null: not finished.';
comment on column export_jobs.deleted_at is
  'Time from which clients no longer see it; its rows are deleted after its chunks. Null: not deleted.';
comment on column export_jobs.seal is
  'Keyed hash of the row (20-row-seals.sql); null or wrong: the row was altered, and is not made.';

create table export_chunks (
  export_id uuid not null references export_jobs,
  index integer not null,
  ciphertext bytea not null,
  primary key (export_id, index)
);
-- Ciphertext does not compress.
alter table export_chunks alter column ciphertext set storage external;

comment on table export_chunks is 'Packages in pieces.';
comment on column export_chunks.export_id is 'Export that the piece belongs to.';
comment on column export_chunks.index is 'Place in the package, from 0.';
comment on column export_chunks.ciphertext is 'The piece, encrypted and bound to its place.';

create table manifest_certificates (
  manifest_key bytea not null,
  ledger_key text not null,
  certificate text not null,
  created_at timestamptz not null default now(),
  primary key (manifest_key, ledger_key)
);

comment on table manifest_certificates is 'Keys that may sign manifests of packages.';
comment on column manifest_certificates.manifest_key is 'Public key that signs manifests.';
comment on column manifest_certificates.ledger_key is 'Verifier key of the ledger key that certifies it.';
comment on column manifest_certificates.certificate is 'Signed note by which the ledger key certifies it.';
comment on column manifest_certificates.created_at is 'Time of creation.';
