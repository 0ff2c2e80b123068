-- Runs beside: nothing
-- Keys of the service, each encrypted under the master key, which is not in the database.

create table keyring (
  key_id text primary key,
  purpose text not null,
  owner_id uuid,
  wrapped bytea not null,
  public_key bytea,
  created_at timestamptz not null default now(),
  retired_at timestamptz,
  signs_from timestamptz,
  verifies_until timestamptz,
  seal bytea
);
create unique index one_current_key on keyring (purpose, owner_id) nulls not distinct where retired_at is null;

comment on table keyring is 'Keys of the service, encrypted under the master key.';
comment on column keyring.key_id is 'Identifier of the key; not secret.';
comment on column keyring.purpose is 'What the key is for. One key for each purpose and owner is current.';
comment on column keyring.owner_id is 'Site or tenant that the key belongs to; null: the installation.';
comment on column keyring.wrapped is 'The secret key, encrypted under the master key and bound to its row.';
comment on column keyring.public_key is 'Public key of a signing key; null: a symmetric key.';
comment on column keyring.created_at is 'Time of creation.';
comment on column keyring.retired_at is 'Time from which it is not used for anything new; null: current.';
comment on column keyring.signs_from is
  'Time from which a key of access tokens signs; it is published before. Null: from its creation.';
comment on column keyring.verifies_until is
  'Time until which a key of access tokens verifies after it stopped signing; null: without end.';
comment on column keyring.seal is
  'Keyed hash of the row under the key itself; null or wrong: the row was altered, and its key is not used for tokens.';
