/**
 * Sign-ins of users with their refresh tokens, invitations, password resets, and when keys of access tokens sign and verify. Of every secret only its
 * SHA-256 is kept: each has 256 random bits, so that a plain digest cannot be searched.
 */
export const signInSql = `
alter table users add column last_sign_in_at timestamptz;
create index users_by_tenant on users (tenant_id, created_at, id);

-- One row from a sign-in to its end: the family of refresh tokens that follow each other (RFC 9700, 4.14.2).
create table sign_ins (
  id uuid primary key,
  user_id uuid not null references users,
  -- Of the one refresh token that renews it now.
  refresh_digest bytea not null unique check (octet_length(refresh_digest) = 32),
  started_at timestamptz not null default now(),
  renewed_at timestamptz not null default now(),
  -- However often it is renewed, it ends here.
  expires_at timestamptz not null,
  -- It ends here unless it is renewed before.
  lapses_at timestamptz not null check (lapses_at <= expires_at),
  ended_at timestamptz,
  end_reason text check (end_reason in
    ('signed_out', 'ended_by_user', 'token_reused', 'password_changed', 'password_reset', 'user_disabled', 'ended_by_admin', 'ended_by_operator')),
  check ((ended_at is null) = (end_reason is null))
);
create index sign_ins_by_user on sign_ins (user_id, started_at, id);
create index sign_ins_by_end on sign_ins (lapses_at);

-- Refresh tokens that were used. One that comes again was copied.
create table used_refresh_tokens (
  digest bytea primary key,
  sign_in_id uuid not null references sign_ins on delete cascade
);
create index used_refresh_tokens_by_sign_in on used_refresh_tokens (sign_in_id);

create table invitations (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  email text not null check (email = lower(email)),
  role text not null check (role in ('owner', 'admin', 'dpo', 'viewer', 'api_user')),
  token_digest bytea not null unique check (octet_length(token_digest) = 32),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  -- Who it made.
  user_id uuid references users,
  revoked_at timestamptz,
  check ((accepted_at is null) = (user_id is null)),
  check (accepted_at is null or revoked_at is null)
);
create index invitations_by_tenant on invitations (tenant_id, created_at, id);
create unique index one_open_invitation on invitations (tenant_id, email) where accepted_at is null and revoked_at is null;

create table password_resets (
  id uuid primary key,
  user_id uuid not null references users,
  token_digest bytea not null unique check (octet_length(token_digest) = 32),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz,
  revoked_at timestamptz
);
create unique index one_open_password_reset on password_resets (user_id) where used_at is null and revoked_at is null;

-- Keys of access tokens. A new one is published before it signs, and verifies after it signs no more. Null: from the beginning; for ever.
alter table keyring add column signs_from timestamptz, add column verifies_until timestamptz;
grant update (verifies_until) on keyring to consent_ledger_worker;

grant update (last_sign_in_at) on users to consent_ledger_api;
grant select, insert, update (refresh_digest, renewed_at, lapses_at, ended_at, end_reason) on sign_ins to consent_ledger_api, consent_ledger_admin;
grant select, insert on used_refresh_tokens to consent_ledger_api;
grant select on invitations, password_resets to consent_ledger_api;
grant select, insert, update (accepted_at, user_id, revoked_at) on invitations to consent_ledger_admin;
grant select, insert, update (used_at, revoked_at) on password_resets to consent_ledger_admin;
grant select (id, lapses_at), delete on sign_ins to consent_ledger_worker;
grant select (id, expires_at), delete on invitations, password_resets to consent_ledger_worker;
`;
