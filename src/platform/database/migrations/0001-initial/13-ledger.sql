-- The state of the ledger, all of it derived from the log: batches, leaves, tree nodes, checkpoints.
-- And the bytes that were gathered with time stamps.

create table event_log_identity (
  is_only_row boolean primary key default true check (is_only_row),
  log_id uuid not null
);

comment on table event_log_identity is 'The event log that this database belongs to (one row).';
comment on column event_log_identity.is_only_row is 'Always true: allows one row only.';
comment on column event_log_identity.log_id is 'Identity that the log was given when it was created.';

create table batches (
  number bigint primary key,
  header text not null,
  count integer not null,
  root bytea not null,
  sealed_at timestamptz not null
);

comment on table batches is 'Merkle batches that the sealer closed.';
comment on column batches.number is 'Number of the batch; its header is the leaf of this number in the ledger tree.';
comment on column batches.header is 'Header as JCS text, whose UTF-8 is the content of the leaf.';
comment on column batches.count is 'Leaves of the batch.';
comment on column batches.root is 'Root of the Merkle tree over the leaves.';
comment on column batches.sealed_at is 'Time at which the sealer closed it.';

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

comment on table leaves is 'Leaves of the Merkle batches, one for each sealed event.';
comment on column leaves.batch is 'Batch that the leaf is in.';
comment on column leaves.index is 'Place in the batch, from 0.';
comment on column leaves.stream is 'Stream of the event.';
comment on column leaves.revision is 'Revision of the event in its stream.';
comment on column leaves.event_id is 'Id of the event.';
comment on column leaves.hash is 'Hash of the leaf.';

create table ledger_nodes (
  level smallint not null,
  index bigint not null,
  hash bytea not null,
  primary key (level, index)
);

comment on table ledger_nodes is 'Roots of the perfect subtrees of the ledger tree.';
comment on column ledger_nodes.level is 'Height of the subtree; level 0 holds the leaves.';
comment on column ledger_nodes.index is 'Place of the subtree within its level, from 0.';
comment on column ledger_nodes.hash is 'Root of the subtree.';

create table sealed_streams (
  stream text primary key,
  revision bigint not null,
  leaf bytea not null
);

comment on table sealed_streams is 'Where the hash chain of each stream ends.';
comment on column sealed_streams.stream is 'Name of the stream.';
comment on column sealed_streams.revision is 'Last sealed revision.';
comment on column sealed_streams.leaf is 'Leaf hash of that revision, which the next entry names as its predecessor.';

create table sealer_state (
  is_only_row boolean primary key default true check (is_only_row),
  ledger_revision bigint not null,
  log_position text
);
insert into sealer_state (ledger_revision, log_position) values (-1, null);

comment on table sealer_state is 'How far the ledger stream is applied to the tables of the ledger (one row).';
comment on column sealer_state.is_only_row is 'Always true: allows one row only.';
comment on column sealer_state.ledger_revision is 'Last revision of the ledger stream that is applied; -1: none.';
comment on column sealer_state.log_position is
  'Every event of a sealed stream up to this position of the log is in a batch; null: none.';

create table ledger_events (
  revision bigint primary key,
  event_id uuid not null,
  type text not null,
  body bytea not null
);

comment on table ledger_events is
  'Applied events of the ledger stream, byte for byte: they fill a log that was restored from an older backup.';
comment on column ledger_events.revision is 'Revision in the ledger stream.';
comment on column ledger_events.event_id is 'Id of the event.';
comment on column ledger_events.type is 'Type of the event with its version.';
comment on column ledger_events.body is 'Body of the event.';

create table ledger_policies (
  revision bigint primary key,
  event_id uuid not null,
  type text not null,
  body bytea not null
);

comment on table ledger_policies is
  'Events of the policy stream, byte for byte: they fill a log that was restored from an older backup.';
comment on column ledger_policies.revision is 'Revision in the policy stream.';
comment on column ledger_policies.event_id is 'Id of the event.';
comment on column ledger_policies.type is 'Type of the event with its version.';
comment on column ledger_policies.body is 'Body of the event.';

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

comment on table checkpoints is 'Signed states of the ledger tree with their time stamps.';
comment on column checkpoints.size is 'Leaves of the ledger tree.';
comment on column checkpoints.note is 'Signed note with size and root (C2SP tlog-checkpoint).';
comment on column checkpoints.tsr is 'Time stamp response over the note (RFC 3161, DER).';
comment on column checkpoints.tsr_sha256 is 'SHA-256 of tsr, lower-case hexadecimal.';
comment on column checkpoints.gen_time is 'genTime of the time stamp.';
comment on column checkpoints.authority is 'Authority that issued the time stamp.';
comment on column checkpoints.certificates is 'SHA-256 of the certificates gathered with it; see timestamp_evidence.';
comment on column checkpoints.crls is 'SHA-256 of the CRLs gathered with it.';
comment on column checkpoints.ocsp is 'SHA-256 of the OCSP responses gathered with it.';
comment on column checkpoints.stamped_at is 'Time at which the row was written.';

create table timestamp_evidence (
  sha256 text primary key,
  kind text not null check (kind in ('certificate', 'crl', 'ocsp')),
  bytes bytea not null
);

comment on table timestamp_evidence is
  'Certificates, CRLs and OCSP responses by which a time stamp can be verified after its authority is gone.';
comment on column timestamp_evidence.sha256 is 'SHA-256 of the bytes, lower-case hexadecimal.';
comment on column timestamp_evidence.kind is 'certificate, crl or ocsp.';
comment on column timestamp_evidence.bytes is 'The DER bytes as they were received.';

create table ledger_keys (
  key text primary key,
  replaces text,
  bridge_size bigint,
  published_at timestamptz not null
);
-- The keys form one chain: one first key, and at most one successor of each.
create unique index one_key_after_each on ledger_keys (replaces) nulls not distinct;

comment on table ledger_keys is 'Keys that have signed checkpoints.';
comment on column ledger_keys.key is 'Verifier key (C2SP signed-note).';
comment on column ledger_keys.replaces is 'Its predecessor; null: the first key.';
comment on column ledger_keys.bridge_size is 'Size of the checkpoint that both keys signed; null: the first key.';
comment on column ledger_keys.published_at is 'Time of publication.';
