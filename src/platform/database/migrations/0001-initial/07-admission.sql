-- Runs beside: nothing
-- Rows that admission writes in one transaction beside the event (11-event-log.sql): the key of the
-- record, its attachments, the approval token that is used, and the quota.

create table record_keys (
  event_id uuid primary key,
  site_id uuid not null,
  seed bytea not null,
  visitor_index bytea,
  email_index bytea,
  phone_index bytea,
  id_number_index bytea,
  seal bytea not null
);
-- The event id gives the records of a person in order. Without statistics on the indexes
-- (19-planner-statistics.sql) the planner would otherwise follow the primary key through all records.
create index record_keys_by_visitor on record_keys (site_id, visitor_index, event_id) where visitor_index is not null;
create index record_keys_by_email on record_keys (site_id, email_index, event_id) where email_index is not null;
create index record_keys_by_phone on record_keys (site_id, phone_index, event_id) where phone_index is not null;
create index record_keys_by_id_number on record_keys (site_id, id_number_index, event_id) where id_number_index is not null;

comment on table record_keys is
  'One row for each record that is not erased. Deleting the row destroys the key of the record''s personal data.';
comment on column record_keys.event_id is 'Id of the ConsentRecorded event.';
comment on column record_keys.site_id is 'Site that the consent was given on.';
comment on column record_keys.seed is 'Random bytes that the key of the record is derived from, with the key of the site.';
comment on column record_keys.visitor_index is 'Blind index (keyed hash) of the visitor id; null: none was given.';
comment on column record_keys.email_index is 'Blind index of the e-mail address; null: none was given.';
comment on column record_keys.phone_index is 'Blind index of the phone number; null: none was given.';
comment on column record_keys.id_number_index is 'Blind index of the identity number; null: none was given.';
comment on column record_keys.seal is
  'Keyed hash of the row under the key of the record. A row that fails it is left out and reported.';

create table attachments (
  id uuid primary key,
  event_id uuid not null,
  site_id uuid not null,
  ciphertext bytea not null
);
create index attachments_by_event on attachments (event_id);
-- Ciphertext does not compress.
alter table attachments alter column ciphertext set storage external;

comment on table attachments is 'Large contents of records, such as a signed document.';
comment on column attachments.id is 'Random identifier. It is not derived from the content, which it would reveal.';
comment on column attachments.event_id is 'Record that the content belongs to.';
comment on column attachments.site_id is 'Site of the record.';
comment on column attachments.ciphertext is 'The content, encrypted under the key of the record.';

create table approval_tokens (
  id text primary key,
  site_id uuid not null references sites,
  digest bytea not null unique,
  document_id uuid not null references documents,
  document_version_id uuid references document_versions,
  custom_document_hash text,
  seed bytea not null,
  identity bytea not null,
  visitor_index bytea,
  email_index bytea,
  phone_index bytea,
  id_number_index bytea,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  consumed_by uuid,
  seal bytea
);
create index approval_tokens_by_visitor on approval_tokens (site_id, visitor_index) where visitor_index is not null;
create index approval_tokens_by_email on approval_tokens (site_id, email_index) where email_index is not null;
create index approval_tokens_by_phone on approval_tokens (site_id, phone_index) where phone_index is not null;
create index approval_tokens_by_id_number on approval_tokens (site_id, id_number_index) where id_number_index is not null;
create index approval_tokens_by_consumer on approval_tokens (consumed_by) where consumed_by is not null;
create index approval_tokens_unused on approval_tokens (expires_at) where consumed_by is null;

comment on table approval_tokens is
  'Statements of a backend about the identity of the person who is going to approve a document.';
comment on column approval_tokens.id is 'Identifier (atk_...); not secret.';
comment on column approval_tokens.site_id is 'Site that the token is for.';
comment on column approval_tokens.digest is 'SHA-256 of the token, which has 256 random bits.';
comment on column approval_tokens.document_id is 'Document that may be approved with it.';
comment on column approval_tokens.document_version_id is 'Only this version may be approved; null: any active version.';
comment on column approval_tokens.custom_document_hash is
  'SHA-256 that the custom document of the consent must have; null: not restricted.';
comment on column approval_tokens.seed is 'Random bytes that the key of identity is derived from.';
comment on column approval_tokens.identity is 'What the backend states about the person, encrypted.';
comment on column approval_tokens.visitor_index is 'Blind index of the visitor id; null: none was given.';
comment on column approval_tokens.email_index is 'Blind index of the e-mail address; null: none was given.';
comment on column approval_tokens.phone_index is 'Blind index of the phone number; null: none was given.';
comment on column approval_tokens.id_number_index is 'Blind index of the identity number; null: none was given.';
comment on column approval_tokens.created_at is 'Time of creation.';
comment on column approval_tokens.expires_at is 'Time from which the token is refused.';
comment on column approval_tokens.consumed_by is 'Record that used the token; null: unused.';
comment on column approval_tokens.seal is
  'Keyed hash of the row (20-row-seals.sql); null or wrong: the row was altered, and grants nothing.';

create table consent_usage (
  tenant_id uuid not null references tenants,
  month date not null,
  used bigint not null,
  primary key (tenant_id, month)
);

comment on table consent_usage is 'Consents that each tenant used in a calendar month, counted against its quota.';
comment on column consent_usage.tenant_id is 'Tenant whose consents are counted.';
comment on column consent_usage.month is 'First day of the month (UTC).';
comment on column consent_usage.used is 'Consents admitted in the month.';

create table quarantined_sites (
  site_id uuid primary key,
  reason text not null,
  quarantined_at timestamptz not null default now()
);

comment on table quarantined_sites is
  'Quarantined sites: the log refused an append for good, and the relay stops until an operator acts.';
comment on column quarantined_sites.site_id is 'Site whose relay stopped.';
comment on column quarantined_sites.reason is 'Why the log refused.';
comment on column quarantined_sites.quarantined_at is 'Time at which the relay stopped.';
