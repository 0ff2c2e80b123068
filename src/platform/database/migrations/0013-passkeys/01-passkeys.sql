-- Runs beside: 0001-initial
-- Passkeys (WebAuthn). Each is a row under the row seal, and the sealed row of its user lists it: a row that
-- is deleted removes no second factor, and a row of a removed passkey that is written again grants nothing.
alter table users
  add column passkey_ids uuid[] check (cardinality(passkey_ids) > 0),
  add column passkey_challenge text;
comment on column users.passkey_ids is
  'Passkeys of the user. While there is one, a sign-in with the password requires a second factor. Null: none.';
comment on column users.passkey_challenge is
  'Challenge that a new passkey has to sign, once; it contains its time. Null: none was asked for, or it was used.';

create table passkeys (
  id uuid primary key,
  user_id uuid not null references users,
  credential_id text not null unique,
  public_key bytea not null,
  rp_id text not null,
  transports text[] not null,
  label text not null,
  was_verified boolean not null,
  sign_count bigint not null,
  last_challenge bigint,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  seal bytea
);
alter table passkeys
  alter column credential_id set statistics 0,
  alter column public_key set statistics 0,
  alter column label set statistics 0;
alter table users alter column passkey_challenge set statistics 0;
create index passkeys_by_user on passkeys (user_id, created_at, id);

comment on table passkeys is 'Passkeys of users (WebAuthn): public keys with which they sign in.';
comment on column passkeys.id is 'Identifier of the passkey.';
comment on column passkeys.user_id is 'User who signs in with it.';
comment on column passkeys.credential_id is 'Identifier that the authenticator chose, in base64url.';
comment on column passkeys.public_key is 'Public key of the passkey (COSE_Key, RFC 9052).';
comment on column passkeys.rp_id is 'Host name that the passkey was made for. It works for no other one.';
comment on column passkeys.transports is 'How the browser reaches the authenticator, as it stated (usb, nfc, internal and others).';
comment on column passkeys.label is 'Name that the user gave it.';
comment on column passkeys.was_verified is
  'Whether the authenticator verified the person when the passkey was made. Every sign-in is checked again.';
comment on column passkeys.sign_count is
  'Counter of the authenticator at the last use; 0: it counts nothing. A copy of the passkey shows in one that goes back.';
comment on column passkeys.last_challenge is
  'Time of the last challenge that was signed, in ms since 1970; challenges up to it are refused. Null: never used.';
comment on column passkeys.created_at is 'Time of creation.';
comment on column passkeys.last_used_at is 'Time of the last use; null: never.';
comment on column passkeys.seal is
  'Keyed hash of the columns that grant rights (20-row-seals.sql); null or wrong: the row grants nothing.';

grant select, insert, delete on passkeys to consent_ledger_admin;
grant update (label, sign_count, last_challenge, last_used_at, seal) on passkeys to consent_ledger_admin;
grant select on passkeys to consent_ledger_auditor;
