/**
 * What admission settles in one transaction: the record's key, attachments, approval tokens, quota and the outbox. The tables of nonces and
 * idempotency keys, and the functions that admit a group, are in the migration after this one.
 */
export const admissionSql = `
-- One row for each record: what its key is made from, and blind indexes to find it by person. Deleting the row destroys the key.
create table record_keys (
  event_id uuid primary key,
  site_id uuid not null,
  seed bytea not null,
  visitor_index bytea,
  email_index bytea,
  phone_index bytea,
  id_number_index bytea
);
create index record_keys_by_visitor on record_keys (site_id, visitor_index) where visitor_index is not null;
create index record_keys_by_email on record_keys (site_id, email_index) where email_index is not null;
create index record_keys_by_phone on record_keys (site_id, phone_index) where phone_index is not null;
create index record_keys_by_id_number on record_keys (site_id, id_number_index) where id_number_index is not null;

-- Large contents, encrypted under their record's key. The id is random, never made from the content.
create table attachments (
  id uuid primary key,
  event_id uuid not null,
  site_id uuid not null,
  ciphertext bytea not null
);
create index attachments_by_event on attachments (event_id);

create table approval_tokens (
  -- atk_…, not secret.
  id text primary key,
  site_id uuid not null references sites,
  -- SHA-256 of the token: 256 random bits.
  digest bytea not null unique,
  document_id uuid not null references documents,
  document_version_id uuid references document_versions,
  custom_document_hash text,
  -- The identity details, encrypted like disclosures under a key made from this seed.
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
create index approval_tokens_by_visitor on approval_tokens (site_id, visitor_index) where visitor_index is not null;
create index approval_tokens_by_consumer on approval_tokens (consumed_by) where consumed_by is not null;

-- Consents used in a calendar month (UTC, its first day).
create table consent_usage (
  tenant_id uuid not null references tenants,
  month date not null,
  used bigint not null,
  primary key (tenant_id, month)
);

-- Complete events on their way to the log. revision is set when the log has the event.
create table outbox (
  seq bigint generated always as identity primary key,
  site_id uuid not null,
  stream text not null,
  event_id uuid not null,
  type text not null,
  body bytea not null,
  created_at timestamptz not null default now(),
  revision bigint
);
create index outbox_waiting on outbox (site_id, seq) where revision is null;

-- The last revision of each stream that the log is known to have.
create table relayed_streams (
  stream text primary key,
  revision bigint not null
);

-- Sites whose append the log refused for good: nothing of them is relayed until an operator has looked.
create table parked_sites (
  site_id uuid primary key,
  reason text not null,
  parked_at timestamptz not null default now()
);

grant select, insert on record_keys, attachments to consent_ledger_api;
grant select, insert, update on consent_usage to consent_ledger_api;
grant select, insert, update (consumed_by) on approval_tokens to consent_ledger_api;
grant select, insert on outbox to consent_ledger_api, consent_ledger_admin;
grant select on relayed_streams, parked_sites to consent_ledger_api;
grant select, delete on record_keys, attachments, approval_tokens to consent_ledger_worker;
-- What was accepted may not be altered on its way to the log, only marked as being there.
grant select, insert, delete, update (revision) on outbox to consent_ledger_worker;
grant select, insert, update, delete on relayed_streams, parked_sites to consent_ledger_worker;
`;
