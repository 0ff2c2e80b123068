-- Runs beside: nothing
-- Users, their sign-ins, invitations and password resets.
--
-- Of every secret the database keeps only its SHA-256. Each secret has 256 random bits, so that its
-- plain digest cannot be searched. Passwords are the exception: they are hashed with Argon2id.

create table users (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  email text not null unique check (email = lower(email)),
  password_hash text not null,
  role text not null check (role in ('owner', 'admin', 'dpo', 'viewer', 'api_user')),
  created_at timestamptz not null default now(),
  disabled_at timestamptz,
  last_sign_in_at timestamptz,
  totp_secret bytea,
  totp_confirmed_at timestamptz,
  totp_last_step bigint,
  recovery_digests text[] not null default '{}',
  seal bytea
);
create index users_by_tenant on users (tenant_id, created_at, id);

comment on table users is 'People who sign in to the panel.';
comment on column users.id is 'Identifier of the user.';
comment on column users.tenant_id is 'Tenant that the user belongs to.';
comment on column users.email is 'E-mail address in lower case; one user for each address.';
comment on column users.password_hash is 'Argon2id hash of the password with its parameters, in PHC string format.';
comment on column users.role is 'Role within the tenant; it decides which panel operations are allowed.';
comment on column users.created_at is 'Time of creation.';
comment on column users.disabled_at is 'Time from which the user may not sign in; null: enabled.';
comment on column users.last_sign_in_at is 'Time of the last successful sign-in; null: never.';
comment on column users.totp_secret is
  'Secret of the second factor (RFC 6238), encrypted under a key of the keyring; null: none.';
comment on column users.totp_confirmed_at is
  'Time from which a sign-in requires the second factor; null: it requires none.';
comment on column users.totp_last_step is 'Step of the last code that was used; codes up to it are refused.';
comment on column users.recovery_digests is
  'HMAC-SHA256 of each recovery code that was not used, under a key of the keyring.';
comment on column users.seal is
  'Keyed hash of the columns that grant rights (20-row-seals.sql); null or wrong: the row grants nothing.';

-- One row from a sign-in to its end: the family of refresh tokens that follow each other
-- (RFC 9700, section 4.14.2).
create table sign_ins (
  id uuid primary key,
  user_id uuid not null references users,
  refresh_digest bytea not null unique check (octet_length(refresh_digest) = 32),
  started_at timestamptz not null default now(),
  renewed_at timestamptz not null default now(),
  expires_at timestamptz not null,
  lapses_at timestamptz not null check (lapses_at <= expires_at),
  ended_at timestamptz,
  end_reason text check (end_reason in
    ('signed_out', 'ended_by_user', 'token_reused', 'password_changed', 'password_reset', 'user_disabled', 'ended_by_admin', 'ended_by_operator')),
  seal bytea,
  check ((ended_at is null) = (end_reason is null))
);
create index sign_ins_by_user on sign_ins (user_id, started_at, id);
create index sign_ins_by_end on sign_ins (lapses_at);

comment on table sign_ins is 'Sign-ins of users, each with the refresh token that renews it.';
comment on column sign_ins.id is 'Identifier of the sign-in.';
comment on column sign_ins.user_id is 'User who signed in.';
comment on column sign_ins.refresh_digest is 'SHA-256 of the one refresh token that renews the sign-in now.';
comment on column sign_ins.started_at is 'Time of the sign-in.';
comment on column sign_ins.renewed_at is
  'Time of the last renewal, or of the sign-in. For some seconds, the same client may repeat a renewal.';
comment on column sign_ins.expires_at is 'Time at which the sign-in ends even if it is renewed.';
comment on column sign_ins.lapses_at is 'Time at which the sign-in ends unless it is renewed before.';
comment on column sign_ins.ended_at is 'Time at which it was ended early; null: not ended early.';
comment on column sign_ins.end_reason is 'Why it was ended early; null: not ended early.';
comment on column sign_ins.seal is
  'Keyed hash of the columns that grant rights (20-row-seals.sql); null or wrong: the row grants nothing.';

create table used_refresh_tokens (
  digest bytea primary key,
  sign_in_id uuid not null references sign_ins on delete cascade
);
create index used_refresh_tokens_by_sign_in on used_refresh_tokens (sign_in_id);

comment on table used_refresh_tokens is
  'Refresh tokens that were used. A token that is presented again was copied, and ends its sign-in.';
comment on column used_refresh_tokens.digest is 'SHA-256 of the token.';
comment on column used_refresh_tokens.sign_in_id is 'Sign-in that the token renewed.';

create table invitations (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  email text not null check (email = lower(email)),
  role text not null check (role in ('owner', 'admin', 'dpo', 'viewer', 'api_user')),
  token_digest bytea not null unique check (octet_length(token_digest) = 32),
  invited_by uuid references users,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  user_id uuid references users,
  revoked_at timestamptz,
  seal bytea,
  check ((accepted_at is null) = (user_id is null)),
  check (accepted_at is null or revoked_at is null)
);
create index invitations_by_tenant on invitations (tenant_id, created_at, id);
create unique index one_open_invitation on invitations (tenant_id, email) where accepted_at is null and revoked_at is null;

comment on table invitations is 'Invitations of people to become users of a tenant.';
comment on column invitations.id is 'Identifier of the invitation.';
comment on column invitations.tenant_id is 'Tenant that the person is invited to.';
comment on column invitations.email is 'Address of the future user, in lower case.';
comment on column invitations.role is 'Role that the new user gets.';
comment on column invitations.token_digest is 'SHA-256 of the secret token in the invitation link.';
comment on column invitations.invited_by is
  'User who invited. The user must still have the right to invite when the token is used. Null: an operator.';
comment on column invitations.created_at is 'Time of creation.';
comment on column invitations.expires_at is 'Time from which the token is refused.';
comment on column invitations.accepted_at is 'Time at which the token was used; null: not used.';
comment on column invitations.user_id is 'User that the invitation created; null: not accepted.';
comment on column invitations.revoked_at is 'Time at which it was withdrawn; null: not withdrawn.';
comment on column invitations.seal is
  'Keyed hash of the columns that grant rights (20-row-seals.sql); null or wrong: the row grants nothing.';

create table password_resets (
  id uuid primary key,
  user_id uuid not null references users,
  token_digest bytea not null unique check (octet_length(token_digest) = 32),
  made_by uuid references users,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz,
  revoked_at timestamptz,
  seal bytea
);
create unique index one_open_password_reset on password_resets (user_id) where used_at is null and revoked_at is null;

comment on table password_resets is 'Permissions to set a new password without knowing the present one.';
comment on column password_resets.id is 'Identifier of the password reset.';
comment on column password_resets.user_id is 'User whose password is reset.';
comment on column password_resets.token_digest is 'SHA-256 of the secret token in the link.';
comment on column password_resets.made_by is
  'User who issued it. The user must still have the right to do so when the token is used. Null: an operator.';
comment on column password_resets.created_at is 'Time of creation.';
comment on column password_resets.expires_at is 'Time from which the token is refused.';
comment on column password_resets.used_at is 'Time at which the token was used; null: not used.';
comment on column password_resets.revoked_at is 'Time at which it was withdrawn; null: not withdrawn.';
comment on column password_resets.seal is
  'Keyed hash of the columns that grant rights (20-row-seals.sql); null or wrong: the row grants nothing.';

create table mails (
  id uuid primary key,
  kind text not null check (kind in ('invitation', 'password_reset', 'notice', 'reset_request', 'sign_up')),
  content bytea not null,
  created_at timestamptz not null default now(),
  next_attempt_at timestamptz not null default now(),
  attempts integer not null default 0,
  expires_at timestamptz not null
);
create index mails_by_attempt on mails (next_attempt_at, id);

comment on table mails is 'Mails to users that wait to be sent. A mail that was sent has no row.';
comment on column mails.id is 'Identifier of the mail, also of its Message-ID.';
comment on column mails.kind is 'invitation, password_reset, notice, sign_up; reset_request: whether the address has a user is looked up later.';
comment on column mails.content is
  'Recipient, token and times, encrypted under a key of the keyring and bound to the id: without this key no mail can be read or made.';
comment on column mails.created_at is 'Time at which it was queued.';
comment on column mails.next_attempt_at is 'Time from which it is tried.';
comment on column mails.attempts is 'Attempts so far.';
comment on column mails.expires_at is 'Time from which it is not tried any more.';

create table sign_up_requests (
  address_digest bytea primary key check (octet_length(address_digest) = 32),
  requested_at timestamptz not null default now()
);
create index sign_up_requests_by_time on sign_up_requests (requested_at);

comment on table sign_up_requests is 'Addresses to which the mail of a sign-up was sent lately, so that none is flooded.';
comment on column sign_up_requests.address_digest is 'HMAC-SHA256 of the address under a key of the keyring.';
comment on column sign_up_requests.requested_at is 'Time of the last mail.';
