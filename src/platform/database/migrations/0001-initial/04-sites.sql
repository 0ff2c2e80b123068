-- Runs beside: nothing
-- Sites and their API keys.

create table sites (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  name text not null,
  domain text not null,
  verification_token text not null default replace(gen_random_uuid()::text, '-', ''),
  verified_at timestamptz,
  allowed_origins text[] not null default '{}',
  allowed_ips cidr[] not null default '{}',
  retention_days integer check (retention_days > 0),
  config_revision bigint not null default 1,
  site_config_hash text,
  created_at timestamptz not null default now(),
  seal bytea
);
create index sites_by_tenant on sites (tenant_id, id);
create index verified_sites_by_domain on sites (domain, verified_at) where verified_at is not null;

comment on table sites is 'Web sites and apps that consents are given on.';
comment on column sites.id is 'Identifier of the site.';
comment on column sites.tenant_id is 'Tenant that the site belongs to.';
comment on column sites.name is 'Display name.';
comment on column sites.domain is 'Domain of the site, whose ownership the tenant proves.';
comment on column sites.verification_token is
  'What the TXT record of the domain must contain. Every change of the domain makes a new one.';
comment on column sites.verified_at is 'Time at which the TXT record was found; null: not verified.';
comment on column sites.allowed_origins is 'Origins that browsers may send consents from; empty: no restriction.';
comment on column sites.allowed_ips is 'Addresses that servers may send requests from; empty: no restriction.';
comment on column sites.retention_days is 'Days after which personal data of a record is erased; null: never.';
comment on column sites.config_revision is
  'Grows with every change that admission depends on. A request that was evaluated by an older '
  'revision is evaluated again.';
comment on column sites.site_config_hash is
  'SHA-256 of the record of the SiteConfigPublished in force; null: none is published.';
comment on column sites.created_at is 'Time of creation.';
comment on column sites.seal is
  'Keyed hash of the columns that grant rights (20-row-seals.sql); null or wrong: the row grants nothing.';

create table api_keys (
  id uuid primary key,
  site_id uuid not null references sites,
  name text not null default '',
  digest bytea not null unique,
  prefix text not null,
  scope text not null check (scope in ('read', 'write')),
  restriction text check (restriction in ('publishable', 'secret')),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  replaced_by uuid references api_keys,
  revoked_at timestamptz,
  last_used_at timestamptz,
  seal bytea
);
create index api_keys_by_site on api_keys (site_id);

comment on table api_keys is 'Keys by which backends and browsers use the Tool API.';
comment on column api_keys.id is 'Identifier of the key; not secret.';
comment on column api_keys.site_id is 'Site that the key is for.';
comment on column api_keys.name is 'Display name; empty: none.';
comment on column api_keys.digest is
  'SHA-256 of the whole key. The key has 256 random bits, so that its plain digest cannot be searched.';
comment on column api_keys.prefix is 'First characters of the key, by which people recognise it.';
comment on column api_keys.scope is 'Whether the key may submit consents (write) or only read.';
comment on column api_keys.restriction is
  'publishable: for browsers alone; secret: not for browsers; null: for both.';
comment on column api_keys.created_at is 'Time of creation.';
comment on column api_keys.expires_at is
  'Time until which a rotated key works beside its successor; null: does not expire.';
comment on column api_keys.replaced_by is 'Successor of a rotated key; null: not rotated.';
comment on column api_keys.revoked_at is 'Time from which the key is refused; null: not revoked.';
comment on column api_keys.last_used_at is 'Time of the last use, to the minute; null: never used.';
comment on column api_keys.seal is
  'Keyed hash of the columns that grant rights (20-row-seals.sql); null or wrong: the row grants nothing.';

create table webhooks (
  id uuid primary key,
  site_id uuid not null references sites,
  url text not null,
  description text not null,
  events text[] not null,
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  created_at timestamptz not null default now(),
  disabled_at timestamptz,
  disabled_reason text check (disabled_reason in ('requested', 'failing', 'gone')),
  seal bytea
);
create index webhooks_by_site on webhooks (site_id);

comment on table webhooks is 'URLs of tenants to which the service sends the events of a site.';
comment on column webhooks.id is 'Identifier of the webhook.';
comment on column webhooks.site_id is 'Site whose events are sent.';
comment on column webhooks.url is 'URL that receives them.';
comment on column webhooks.description is 'Display text; empty: none.';
comment on column webhooks.events is 'Events that are sent.';
comment on column webhooks.secret is 'Key of the signatures, encrypted under a key of the site.';
comment on column webhooks.previous_secret is
  'Key before the last rotation, encrypted like secret; null: there was none.';
comment on column webhooks.previous_secret_until is
  'Time until which messages are signed with the previous key as well; null: there is none.';
comment on column webhooks.created_at is 'Time of creation.';
comment on column webhooks.disabled_at is 'Time from which nothing is sent; null: enabled.';
comment on column webhooks.disabled_reason is
  'Why it is disabled: by a user (requested), after three days of failures (failing), or by the '
  'receiver (gone). Null: enabled.';
comment on column webhooks.seal is
  'Keyed hash of the row (20-row-seals.sql); null or wrong: the row was altered, and nothing is sent.';

create table webhook_progress (
  webhook_id uuid primary key references webhooks,
  revision bigint not null,
  checkpoint_size bigint not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  claimed_until timestamptz,
  failing_since timestamptz,
  last_success_at timestamptz,
  last_error text
);

comment on table webhook_progress is 'How far the events of each webhook are delivered.';
comment on column webhook_progress.webhook_id is 'The webhook.';
comment on column webhook_progress.revision is
  'Last revision of the stream of the site''s consents that is delivered or passed over; -1: none.';
comment on column webhook_progress.checkpoint_size is 'Size of the last checkpoint that was told of; 0: none.';
comment on column webhook_progress.attempts is 'Failures since the last success.';
comment on column webhook_progress.next_attempt_at is 'Time before which nothing is sent.';
comment on column webhook_progress.claimed_until is 'Time until which a process has claimed it; null: none.';
comment on column webhook_progress.failing_since is 'First failure since the last success; null: none.';
comment on column webhook_progress.last_success_at is 'Time of the last success; null: none yet.';
comment on column webhook_progress.last_error is 'Why the last attempt failed; null: it succeeded.';
