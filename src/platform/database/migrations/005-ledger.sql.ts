/**
 * The ledger's state, all of it derived from the log: batches, leaves, tree nodes, checkpoints. And the bytes gathered with time-stamps.
 */
export const ledgerSql = `
-- The identity of the event log that this database belongs to.
create table event_log_identity (
  is_only_row boolean primary key default true check (is_only_row),
  log_id uuid not null
);

create table batches (
  number bigint primary key,
  -- JCS text: its UTF-8 is the content of leaf number of the ledger tree.
  header text not null,
  count integer not null,
  root bytea not null,
  sealed_at timestamptz not null
);

create table leaves (
  batch bigint not null references batches,
  index integer not null,
  stream text not null,
  revision bigint not null,
  event_id uuid not null,
  hash bytea not null,
  primary key (stream, revision)
);
create unique index leaves_by_batch on leaves (batch, index);
create index leaves_by_event on leaves (event_id);

-- Perfect subtrees of the ledger tree; level 0 holds the batch leaves.
create table ledger_nodes (
  level smallint not null,
  index bigint not null,
  hash bytea not null,
  primary key (level, index)
);

-- The last sealed revision of each stream, and its leaf hash: what the next entry names as previous.
create table sealed_streams (
  stream text primary key,
  revision bigint not null,
  leaf bytea not null
);

-- How far the ledger stream is applied to these tables (-1: not at all). Every event of a sealed stream up to log_position is in a batch.
create table sealer_state (
  is_only_row boolean primary key default true check (is_only_row),
  ledger_revision bigint not null,
  log_position text
);
insert into sealer_state (ledger_revision, log_position) values (-1, null);

-- The events of the ledger stream that are applied, byte for byte, so that a log restored from an older backup can be filled again.
create table ledger_events (
  revision bigint primary key,
  event_id uuid not null,
  type text not null,
  body bytea not null
);

create table checkpoints (
  size bigint primary key,
  note text not null,
  tsr bytea not null,
  tsr_sha256 text not null,
  gen_time timestamptz not null,
  authority text not null,
  certificates text[] not null,
  crls text[] not null,
  ocsp text[] not null,
  stamped_at timestamptz not null default now()
);

-- Certificates, CRLs and OCSP answers gathered when a stamp was obtained, by their SHA-256.
create table timestamp_evidence (
  sha256 text primary key,
  kind text not null check (kind in ('certificate', 'crl', 'ocsp')),
  bytes bytea not null
);

create table ledger_keys (
  -- Verifier-key line.
  key text primary key,
  replaces text,
  bridge_size bigint,
  published_at timestamptz not null
);

grant select on event_log_identity, batches, leaves, ledger_nodes, sealed_streams, sealer_state, ledger_events, checkpoints,
  timestamp_evidence, ledger_keys to consent_ledger_api, consent_ledger_worker;
grant insert on event_log_identity, batches, leaves, ledger_nodes, ledger_events, checkpoints, timestamp_evidence, ledger_keys
  to consent_ledger_worker;
grant insert, update on sealed_streams to consent_ledger_worker;
grant update on sealer_state to consent_ledger_worker;
`;
