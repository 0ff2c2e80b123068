-- Runs beside: 0001-initial
-- Test keys, and what they record: rows of their own, which no stage after admission reads. Nothing here
-- is evidence. Rows last 30 days (src/pipeline/admission/maintenance.ts), and a site has at most 10,000 records.

alter table api_keys
  add column is_test boolean check (is_test),
  add column live_host text,
  add column live_seen_at timestamptz;
comment on column api_keys.is_test is
  'Whether requests with the key see and change test records alone; null: they see and change the records of the site.';
comment on column api_keys.live_host is
  'Test key: host of the last page with it that visitors may use, where it permits nothing optional; null: none.';
comment on column api_keys.live_seen_at is 'Time of that page, to the minute; null: none.';

create table test_records (
  number bigint generated always as identity primary key,
  event_id uuid not null unique,
  site_id uuid not null references sites,
  created_at timestamptz not null default now(),
  body bytea not null,
  proof_hash bytea not null,
  seed bytea,
  visitor_index bytea,
  email_index bytea,
  phone_index bytea,
  id_number_index bytea,
  idempotency bytea,
  body_digest bytea,
  erased_number bigint,
  erased_at timestamptz
);
create index test_records_by_site on test_records (site_id, number);
create index test_records_by_visitor on test_records (site_id, visitor_index, number) where visitor_index is not null;
create index test_records_by_idempotency on test_records (site_id, idempotency) where idempotency is not null;
create index test_records_by_erasure on test_records (site_id, erased_number) where erased_number is not null;
create index test_records_by_age on test_records (created_at);
alter table test_records
  alter column body set statistics 0,
  alter column seed set statistics 0,
  alter column visitor_index set statistics 0,
  alter column email_index set statistics 0,
  alter column phone_index set statistics 0,
  alter column id_number_index set statistics 0,
  alter column idempotency set statistics 0,
  alter column body_digest set statistics 0;

comment on table test_records is 'Consents that test keys recorded. They are no evidence, and are in no log.';
comment on column test_records.number is 'Order of the records of a site, and of their erasures: rows of a site become visible in it.';
comment on column test_records.event_id is 'Random identifier.';
comment on column test_records.site_id is 'Site of the test key.';
comment on column test_records.created_at is 'Time of the recording.';
comment on column test_records.body is
  'The record as an event would have it. Its proof hash is under a key that proves no record of the site.';
comment on column test_records.proof_hash is 'The proof hash, by which the record is looked up.';
comment on column test_records.seed is
  'Random bytes that the key of the personal values is derived from, with the key of the site; null: they are erased.';
comment on column test_records.visitor_index is 'Blind index (keyed hash) of the visitor id; null: none, or erased.';
comment on column test_records.email_index is 'Blind index of the e-mail address; null: none, or erased.';
comment on column test_records.phone_index is 'Blind index of the phone number; null: none, or erased.';
comment on column test_records.id_number_index is 'Blind index of the identity number; null: none, or erased.';
comment on column test_records.idempotency is 'Digest of the idempotency key, for 24 hours; null: the request had none.';
comment on column test_records.body_digest is 'Digest of the consent as it was sent; null: the request had no idempotency key.';
comment on column test_records.erased_number is 'Place of the erasure by a test key in the same order; null: not erased.';
comment on column test_records.erased_at is 'Time of this erasure; null: not erased.';

create table test_approval_tokens (
  id text primary key,
  site_id uuid not null references sites,
  digest bytea not null unique,
  document_id uuid not null,
  document_version_id uuid,
  custom_document_hash text,
  seed bytea not null,
  identity bytea not null,
  visitor_index bytea,
  email_index bytea,
  phone_index bytea,
  id_number_index bytea,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  consumed_by uuid
);
create index test_approval_tokens_by_site on test_approval_tokens (site_id, created_at);
create index test_approval_tokens_by_age on test_approval_tokens (created_at);
alter table test_approval_tokens
  alter column digest set statistics 0,
  alter column custom_document_hash set statistics 0,
  alter column seed set statistics 0,
  alter column identity set statistics 0,
  alter column visitor_index set statistics 0,
  alter column email_index set statistics 0,
  alter column phone_index set statistics 0,
  alter column id_number_index set statistics 0;

comment on table test_approval_tokens is 'Approval tokens that test keys minted. Only a test record can use one.';
comment on column test_approval_tokens.id is 'Identifier (atk_test_...); not secret.';
comment on column test_approval_tokens.site_id is 'Site that the token is for.';
comment on column test_approval_tokens.digest is 'SHA-256 of the token, which has 256 random bits.';
comment on column test_approval_tokens.document_id is 'Document that may be approved with it.';
comment on column test_approval_tokens.document_version_id is 'Only this version may be approved; null: any active version.';
comment on column test_approval_tokens.custom_document_hash is
  'SHA-256 that the custom document of the consent must have; null: not restricted.';
comment on column test_approval_tokens.seed is 'Random bytes that the key of identity is derived from.';
comment on column test_approval_tokens.identity is 'What the backend states about the person, encrypted.';
comment on column test_approval_tokens.visitor_index is 'Blind index of the visitor id.';
comment on column test_approval_tokens.email_index is 'Blind index of the e-mail address; null: none was given.';
comment on column test_approval_tokens.phone_index is 'Blind index of the phone number; null: none was given.';
comment on column test_approval_tokens.id_number_index is 'Blind index of the identity number; null: none was given.';
comment on column test_approval_tokens.created_at is 'Time of creation.';
comment on column test_approval_tokens.expires_at is 'Time from which the token is refused.';
comment on column test_approval_tokens.consumed_by is 'Test record that used the token; null: unused.';

create table test_erasures (
  id uuid primary key,
  site_id uuid not null references sites,
  channel text not null default 's2s',
  request_digest bytea not null,
  reason text not null check (reason in ('person', 'record')),
  index_kind text check (index_kind in ('visitor', 'email', 'phone', 'id_number')),
  event_id uuid,
  requested_at timestamptz not null default now(),
  erased_count bigint not null,
  deleted_token_count bigint not null,
  cancelled_export_count bigint not null default 0,
  destroyed_package_count bigint not null default 0,
  finished_at timestamptz not null default now(),
  unique (site_id, request_digest)
);
alter table test_erasures alter column request_digest set statistics 0;

comment on table test_erasures is 'Erasures that test keys requested. Each is done in the transaction that records it.';
comment on column test_erasures.id is 'Identifier of the erasure.';
comment on column test_erasures.site_id is 'Site whose test records are erased.';
comment on column test_erasures.channel is 'Always s2s.';
comment on column test_erasures.request_digest is
  'Keyed hash of the idempotency key and of what is erased: a repeated request finds its erasure.';
comment on column test_erasures.reason is 'person or record.';
comment on column test_erasures.index_kind is 'By person: the kind of identifier.';
comment on column test_erasures.event_id is 'By record: its id.';
comment on column test_erasures.requested_at is 'Time of the request.';
comment on column test_erasures.erased_count is 'Test records erased.';
comment on column test_erasures.deleted_token_count is 'Test approval tokens deleted.';
comment on column test_erasures.cancelled_export_count is 'Always 0: test records are in no export.';
comment on column test_erasures.destroyed_package_count is 'Always 0: test records are in no package.';
comment on column test_erasures.finished_at is 'Time at which it was done.';

create table live_hosts (
  site_id uuid not null references sites,
  host text not null,
  first_at timestamptz not null default now(),
  primary key (site_id, host)
);

comment on table live_hosts is
  'Hosts whose pages recorded a consent with a live key, at most 1,000 a site. On them, a page with a test key permits nothing optional.';
comment on column live_hosts.site_id is 'Site of the key.';
comment on column live_hosts.host is 'Host of the page, as its header Origin stated it, without a port.';
comment on column live_hosts.first_at is 'Time of the first consent.';

grant select, insert on test_records, test_approval_tokens, test_erasures, live_hosts to consent_ledger_api;
-- An erasure empties the personal columns. The oldest records beyond the limit of a site are deleted.
grant update (seed, visitor_index, email_index, phone_index, id_number_index, body_digest, erased_number, erased_at)
  on test_records to consent_ledger_api;
grant usage on sequence test_records_number_seq to consent_ledger_api;
grant update (consumed_by) on test_approval_tokens to consent_ledger_api;
grant delete on test_records, test_approval_tokens to consent_ledger_api;
grant select, delete on test_records, test_approval_tokens, test_erasures to consent_ledger_worker;
grant update (live_host, live_seen_at) on api_keys to consent_ledger_api;
grant select on live_hosts to consent_ledger_admin;
grant select on test_records, test_approval_tokens, test_erasures, live_hosts to consent_ledger_auditor;
