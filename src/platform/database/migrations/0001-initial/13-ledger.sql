-- Runs beside: nothing
-- The state of the ledger, all of it derived from the log: batches, leaves, tree nodes, checkpoints, and
-- what evidence needs beside them.

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
  root bytea,
  leaves bytea not null,
  nodes bytea not null,
  sealed_at timestamptz not null
);
-- Uncompressed, so that a part is read without the rest.
alter table batches alter column leaves set storage external, alter column nodes set storage external;

comment on table batches is 'Leaves of the ledger tree: Merkle batches that the sealer closed, and roll-ups of them.';
comment on column batches.number is 'Number of the batch; its header is the leaf of this number in the ledger tree.';
comment on column batches.header is 'Header as JCS text, whose UTF-8 is the content of the leaf.';
comment on column batches.count is 'Leaves of the batch; 0 for a roll-up.';
comment on column batches.root is 'Root of the Merkle tree over the leaves; null for a roll-up.';
comment on column batches.leaves is 'Hashes of the leaves in order, 32 bytes each; empty for a roll-up.';
comment on column batches.nodes is
  'Roots of the perfect subtrees of that tree from level 1, 32 bytes each: level by level, each from the left; empty for a roll-up. A cache: each use is checked against the root.';
comment on column batches.sealed_at is 'Time at which the sealer closed it.';

create table sealed_streams (
  number integer primary key,
  revision bigint not null,
  stream text collate "C" not null unique,
  leaf bytea not null
);
-- Room for the versions of a row, so that its index entries stay.
alter table sealed_streams set (fillfactor = 50);

comment on table sealed_streams is 'Where the hash chain of each stream ends.';
comment on column sealed_streams.number is
  'Short name of the stream for sealed_events: counts the streams in the order in which the ledger has them first, from 1.';
comment on column sealed_streams.revision is 'Last sealed revision.';
comment on column sealed_streams.stream is 'Name of the stream.';
comment on column sealed_streams.leaf is 'Leaf hash of that revision, which the next entry names as its predecessor.';

create table sealed_events (
  batch bigint not null,
  revision bigint not null,
  stream integer not null,
  -- As many hashes fit into a value of PostgreSQL.
  index integer not null check (index between 0 and 33554431),
  event_id uuid not null,
  person_tag bytea,
  primary key (stream, revision)
);
create index sealed_events_by_batch on sealed_events (batch);
create index sealed_events_by_id on sealed_events (event_id);
-- Also finds the records of a person by the tags of their numbers. Tags are random, and long: an index of
-- their hashes has a third of the size. Whether one occurs twice is for the audit to say.
create index sealed_events_by_person_tag on sealed_events using hash (person_tag);

comment on table sealed_events is 'Where each sealed event is among the leaves of the Merkle batches.';
comment on column sealed_events.batch is 'Batch that the leaf is in.';
comment on column sealed_events.revision is 'Revision of the event in its stream.';
comment on column sealed_events.stream is 'Number of the stream in sealed_streams.';
comment on column sealed_events.index is 'Place in the batch, from 0.';
comment on column sealed_events.event_id is 'Id of the event.';
comment on column sealed_events.person_tag is 'Tag of a consent: the person''s and the number''s, or random bytes. Tag of an erasure: that of the record''s erasure. Null for other events.';

create view leaves as
  select e.batch, e.index, s.stream, e.revision, e.event_id,
         coalesce(substring(b.leaves from e.index * 32 + 1 for 32), '') as hash, e.person_tag
    from sealed_events e
    join sealed_streams s on s.number = e.stream
    left join batches b on b.number = e.batch;
comment on view leaves is 'Leaves of the Merkle batches: sealed events with their hashes and the names of their streams.';

create table persons (
  site_id uuid not null,
  visitor_index bytea not null,
  seed bytea not null,
  records bigint not null default 0,
  primary key (site_id, visitor_index)
);

comment on table persons is 'Persons with sealed records that are not erased. Deleting the row makes their tags unlinkable.';
comment on column persons.site_id is 'Site of the records.';
comment on column persons.visitor_index is 'Blind index of the visitor id.';
comment on column persons.seed is 'Random bytes that the id in the tags is derived from, with the key of the site.';
comment on column persons.records is 'A number up to which the person''s records are sealed; there may be more.';

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

create view event_log.unsealed_events as
  select s.site_id, s.name as stream, e.revision, e.id, e.type, e.data, e.sealed_before
    from event_log.streams s
    left join sealed_streams l on l.stream = s.name
   cross join lateral (
     select o.* from event_log.events o where o.stream = s.number and o.revision > coalesce(l.revision, -1) offset 0) e
   where s.site_id is not null;
comment on view event_log.unsealed_events is 'Stored events of sites that are in no batch.';

create table sealer_state (
  is_only_row boolean primary key default true check (is_only_row),
  ledger_revision bigint not null,
  log_position text,
  compared_on text
);
insert into sealer_state (ledger_revision, log_position) values (-1, null);

comment on table sealer_state is 'How far the ledger stream is applied to the tables of the ledger (one row).';
comment on column sealer_state.is_only_row is 'Always true: allows one row only.';
comment on column sealer_state.ledger_revision is 'Last revision of the ledger stream that is applied; -1: none.';
comment on column sealer_state.log_position is
  'Every event of a sealed stream up to this position of the log is in a batch; null: none.';
comment on column sealer_state.compared_on is
  'Server and time line on which a process that signs last compared the ledger with its head; null: none did.';

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
  'Events of the policy stream (policies and announcements of keys), byte for byte: they fill a log that was restored from an older backup.';
comment on column ledger_policies.revision is 'Revision in the policy stream.';
comment on column ledger_policies.event_id is 'Id of the event.';
comment on column ledger_policies.type is 'Type of the event with its version.';
comment on column ledger_policies.body is 'Body of the event.';

create table checkpoints (
  size bigint primary key,
  note text not null,
  tokens integer not null,
  gen_time timestamptz not null,
  authorities text[] not null,
  certificates text[] not null,
  crls text[] not null,
  ocsp text[] not null,
  stamped_at timestamptz not null default now()
);

comment on table checkpoints is 'Signed states of the ledger tree that enough authorities have stamped.';
comment on column checkpoints.size is 'Leaves of the ledger tree.';
comment on column checkpoints.note is 'Signed note with size and root (C2SP tlog-checkpoint).';
comment on column checkpoints.tokens is 'Number of its time stamps, which are in checkpoint_tokens.';
comment on column checkpoints.gen_time is 'Earliest genTime of its time stamps.';
comment on column checkpoints.authorities is 'Authorities that issued them, in the order obtained.';
comment on column checkpoints.certificates is 'SHA-256 of the certificates gathered with them; see kept_evidence.';
comment on column checkpoints.crls is 'SHA-256 of the CRLs gathered with them.';
comment on column checkpoints.ocsp is 'SHA-256 of the OCSP responses gathered with them.';
comment on column checkpoints.stamped_at is 'Time at which the row was written.';

create table checkpoint_tokens (
  size bigint not null,
  number integer not null,
  note text not null,
  tsr bytea not null,
  tsr_sha256 text not null,
  gen_time timestamptz not null,
  authority text not null,
  organization text not null,
  certificates text[] not null,
  crls text[] not null,
  ocsp text[] not null,
  primary key (size, number)
);

comment on table checkpoint_tokens is
  'Time stamps of checkpoints. At most one size is not in checkpoints: it has fewer time stamps than its quorum.';
comment on column checkpoint_tokens.size is 'Leaves of the ledger tree.';
comment on column checkpoint_tokens.number is 'Place in the order in which the time stamps of the checkpoint were obtained, from 1.';
comment on column checkpoint_tokens.note is 'Signed note with size and root: the stamped bytes.';
comment on column checkpoint_tokens.tsr is 'Time stamp response over the note (RFC 3161, DER).';
comment on column checkpoint_tokens.tsr_sha256 is 'SHA-256 of tsr, lower-case hexadecimal.';
comment on column checkpoint_tokens.gen_time is 'genTime of the time stamp.';
comment on column checkpoint_tokens.authority is 'Address of the authority that issued it.';
comment on column checkpoint_tokens.organization is
  'Organization of its trust anchor: time stamps with equal ones are of one authority.';
comment on column checkpoint_tokens.certificates is 'SHA-256 of the certificates gathered with it; see kept_evidence.';
comment on column checkpoint_tokens.crls is 'SHA-256 of the CRLs gathered with it.';
comment on column checkpoint_tokens.ocsp is 'SHA-256 of the OCSP responses gathered with it.';

create table evidence_parts (
  sha256 text not null,
  parts integer not null,
  part integer not null,
  kind text not null check (kind in ('certificate', 'crl', 'ocsp', 'notice')),
  bytes bytea not null,
  primary key (sha256, parts, part)
);

comment on table evidence_parts is
  'What evidence needs beside entries and tree, in the parts in which the ledger has it: data gathered with time stamps, and texts of documents.';
comment on column evidence_parts.sha256 is 'SHA-256 of the whole item, lower-case hexadecimal.';
comment on column evidence_parts.parts is 'Number of its parts.';
comment on column evidence_parts.part is 'Place of this part, from 0.';
comment on column evidence_parts.kind is 'certificate, crl, ocsp, or notice: the text of a document version.';
comment on column evidence_parts.bytes is 'Bytes of this part.';

-- Grouped by kind too: a condition on the kind then selects rows before their bytes are joined.
create view kept_evidence as
  select sha256, kind, string_agg(bytes, ''::bytea order by part) as bytes
    from evidence_parts group by sha256, kind, parts having count(*) = parts;
comment on view kept_evidence is
  'Certificates, CRLs and OCSP responses as they were received, by which a time stamp can be verified after its authority is gone; and the texts of document versions.';

create table ledger_keys (
  key text primary key,
  ml_dsa_key text not null,
  replaces text,
  announced_in bigint,
  handover_size bigint,
  published_at timestamptz not null,
  salt_key bytea
);
-- The keys form one chain: one first key, and at most one successor of each.
create unique index one_key_after_each on ledger_keys (replaces) nulls not distinct;

comment on table ledger_keys is 'Keys that have signed checkpoints.';
comment on column ledger_keys.key is 'Verifier key of Ed25519 (C2SP signed-note).';
comment on column ledger_keys.ml_dsa_key is 'Verifier key of ML-DSA-44, which signs beside it.';
comment on column ledger_keys.replaces is 'Its predecessor; null: the first key.';
comment on column ledger_keys.announced_in is 'Revision of its announcement in the stream policy; null: the first key.';
comment on column ledger_keys.handover_size is
  'Size of the first checkpoint over the announcement, which both keys signed; null: the first key.';
comment on column ledger_keys.published_at is 'Time of publication.';
comment on column ledger_keys.salt_key is
  'Secret from which the salts of sites are derived, 32 bytes: it tells which key of a stream is of which site. Null but for the first key.';

create table witnesses (
  name text primary key,
  size bigint not null,
  updated_at timestamptz not null default now()
);

comment on table witnesses is 'The newest checkpoint that each witness has cosigned, as far as this service knows.';
comment on column witnesses.name is 'Name of the keys of the witness.';
comment on column witnesses.size is 'Size of that checkpoint; the next request proves consistency from this size.';
comment on column witnesses.updated_at is 'Time at which the size was written.';

create table cosignatures (
  size bigint not null references checkpoints,
  witness text not null,
  line text not null,
  cosigned_at timestamptz not null,
  primary key (size, witness)
);

comment on table cosignatures is 'Verified cosignatures of witnesses over checkpoints (C2SP tlog-cosignature).';
comment on column cosignatures.size is 'Size of the checkpoint.';
comment on column cosignatures.witness is 'Verifier key of the witness (C2SP signed-note, type 0x04 or 0x06).';
comment on column cosignatures.line is 'Signature line with its line feed, as the witness returned it.';
comment on column cosignatures.cosigned_at is 'Time that the witness states.';
