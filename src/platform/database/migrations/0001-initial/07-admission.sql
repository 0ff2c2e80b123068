-- What admission writes in one transaction: the key of the record, its attachments, the approval
-- token that is used, the quota, and the event on its way to the log.

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
-- Ciphertext does not compress, and the usual body of an event, a little above 2 kB, is cheaper in
-- its row than beside it.
alter table outbox set (toast_tuple_target = 8160);
alter table outbox alter column body set storage external;

comment on table outbox is 'Complete events on their way to the event log.';
comment on column outbox.seq is 'Order in which the events of a site are relayed.';
comment on column outbox.site_id is 'Site whose event it is.';
comment on column outbox.stream is 'Stream of the log that it is appended to.';
comment on column outbox.event_id is 'Id of the event.';
comment on column outbox.type is 'Type of the event with its version.';
comment on column outbox.body is 'Body of the event, exactly as the log receives it.';
comment on column outbox.created_at is 'Time of the transaction that wrote it.';
comment on column outbox.revision is 'Revision in its stream, set when the log has the event; null: not relayed.';

create function first_waiting(in_sites uuid[], in_limit integer)
returns table (seq bigint, site_id uuid, size integer)
language plpgsql stable
-- The index of waiting rows has the order that is asked for. Without statistics, as under the first load,
-- and with those of a short outbox, the planner reads and sorts everything that waits, for each page.
set enable_sort = off
set enable_bitmapscan = off
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  -- The range of rows leaves only that index: with site_id = s.site_id, the primary key has the same
  -- order, and its scan begins at relayed rows.
  return query
    select r.seq, r.site_id, r.size from unnest(in_sites) as s (site_id) cross join lateral (
      select o.seq, o.site_id, octet_length(o.body) as size from outbox o
       where (o.site_id, o.seq) >= (s.site_id, 0) and o.site_id <= s.site_id and o.revision is null
       order by o.site_id, o.seq limit in_limit) r;
end
$$;
comment on function first_waiting(uuid[], integer) is
  'The first waiting rows of the outbox of each site, with the bytes of their bodies.';
revoke all on function first_waiting(uuid[], integer) from public;
grant execute on function first_waiting(uuid[], integer) to consent_ledger_worker;

create table relayed_streams (
  stream text primary key,
  revision bigint not null
);

comment on table relayed_streams is 'How far each stream is relayed.';
comment on column relayed_streams.stream is 'Name of the stream.';
comment on column relayed_streams.revision is 'Last revision that the log is known to have.';

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
