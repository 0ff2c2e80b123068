-- Runs beside: nothing
-- Tenants and their plans.

create table tenants (
  id uuid primary key,
  name text not null,
  made_by_tenant uuid references tenants,
  created_at timestamptz not null default now(),
  seal bytea
);
create index tenants_by_maker on tenants (made_by_tenant) where made_by_tenant is not null;

comment on table tenants is 'Customers of the installation.';
comment on column tenants.id is 'Identifier of the tenant.';
comment on column tenants.name is 'Display name.';
comment on column tenants.made_by_tenant is
  'Tenant whose user created this one; null: created by an operator. The daily limit of new tenants '
  'is counted over all descendants of the same first tenant.';
comment on column tenants.created_at is 'Time of creation.';
comment on column tenants.seal is
  'Keyed hash of the row (20-row-seals.sql); null or wrong: the row was altered.';

create table subscriptions (
  tenant_id uuid primary key references tenants,
  plan text not null,
  is_active boolean not null,
  rate_limit_per_minute integer not null check (rate_limit_per_minute > 0),
  consent_quota bigint check (consent_quota >= 0),
  seal bytea
);

comment on table subscriptions is 'The plan of each tenant and the limits that it sets.';
comment on column subscriptions.tenant_id is 'Tenant that has the plan.';
comment on column subscriptions.plan is 'Name of the plan.';
comment on column subscriptions.is_active is 'Whether consents of the tenant are admitted.';
comment on column subscriptions.rate_limit_per_minute is 'Requests that the backends and browsers of the tenant may send in one minute.';
comment on column subscriptions.consent_quota is 'Consents in one calendar month (UTC); null: no limit.';
comment on column subscriptions.seal is
  'Keyed hash of the row (20-row-seals.sql); null or wrong: the row was altered, and grants nothing.';
