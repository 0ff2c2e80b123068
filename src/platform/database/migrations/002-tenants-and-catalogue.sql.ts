/**
 * What a customer sets up: tenants, plans, users, sites, API keys, documents and their versions, site configurations; and the wrapped keys.
 * `sites.config_revision` grows with every change that admission has to know of: an admission that judged by an older one is judged again.
 */
export const tenantsAndCatalogueSql = `
create table tenants (
  id uuid primary key,
  name text not null,
  created_at timestamptz not null default now()
);

create table subscriptions (
  tenant_id uuid primary key references tenants,
  plan text not null,
  is_active boolean not null,
  rate_limit_per_minute integer not null check (rate_limit_per_minute > 0),
  -- Consents a calendar month (UTC); null: no limit.
  consent_quota bigint check (consent_quota >= 0)
);

create table users (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  email text not null unique check (email = lower(email)),
  password_hash text not null,
  role text not null check (role in ('owner', 'admin', 'dpo', 'viewer', 'api_user')),
  created_at timestamptz not null default now(),
  disabled_at timestamptz
);

create table sites (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  name text not null,
  domain text not null,
  verified_at timestamptz,
  -- Empty: no restriction.
  allowed_origins text[] not null default '{}',
  allowed_ips cidr[] not null default '{}',
  retention_days integer check (retention_days > 0),
  config_revision bigint not null default 1,
  -- SHA-256 of the SiteConfigPublished in force; null: none yet.
  site_config_hash text,
  created_at timestamptz not null default now()
);

create table api_keys (
  id uuid primary key,
  site_id uuid not null references sites,
  -- SHA-256 of the whole key: the key has 256 random bits, so a plain digest cannot be searched.
  digest bytea not null unique,
  -- The first characters, shown to people.
  prefix text not null,
  scope text not null check (scope in ('read', 'write')),
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index api_keys_by_site on api_keys (site_id);

create table documents (
  id uuid primary key,
  site_id uuid not null references sites,
  slug text not null,
  kind text not null,
  requires_approval_token boolean not null,
  created_at timestamptz not null default now(),
  unique (site_id, slug)
);

-- The bytes that people are asked to consent to, by their SHA-256. A published content is never changed.
create table notice_contents (
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  content bytea not null
);

create table document_versions (
  id uuid primary key,
  document_id uuid not null references documents,
  site_id uuid not null references sites,
  language text not null,
  number integer not null check (number > 0),
  title text not null,
  media_type text not null,
  content_sha256 text not null references notice_contents,
  state text not null check (state in ('draft', 'published', 'active', 'retired')),
  published_at timestamptz,
  activated_at timestamptz,
  retired_at timestamptz,
  unique (document_id, language, number)
);
create unique index one_active_version on document_versions (document_id, language) where state = 'active';
create index document_versions_by_site on document_versions (site_id);

-- Every published configuration; record is the exact JCS text that sha256 is over.
create table site_configs (
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  site_id uuid not null references sites,
  number integer not null check (number > 0),
  event_id uuid not null unique,
  record text not null,
  published_at timestamptz not null,
  unique (site_id, number)
);
alter table sites add foreign key (site_config_hash) references site_configs;

create table keyring (
  key_id text primary key,
  purpose text not null,
  owner_id uuid,
  wrapped bytea not null,
  public_key bytea,
  created_at timestamptz not null default now(),
  retired_at timestamptz
);
create unique index one_current_key on keyring (purpose, owner_id) nulls not distinct where retired_at is null;

grant select on tenants, subscriptions, users, sites, api_keys, documents, notice_contents, document_versions, site_configs, keyring
  to consent_ledger_api, consent_ledger_worker;
grant insert on keyring to consent_ledger_api, consent_ledger_worker;
-- Locking a site's row needs the right to change something of it.
grant update (config_revision) on sites to consent_ledger_api;
grant select on tenants, subscriptions, users, sites, api_keys, documents, notice_contents, document_versions, site_configs
  to consent_ledger_admin;
grant insert, update on tenants, subscriptions, users, sites, api_keys, documents to consent_ledger_admin;
grant insert, update (title, media_type, content_sha256, state, published_at, activated_at, retired_at) on document_versions
  to consent_ledger_admin;
grant insert on notice_contents, site_configs to consent_ledger_admin;
`;
