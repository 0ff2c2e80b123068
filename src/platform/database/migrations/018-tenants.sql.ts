/** Which tenant made which: what a tenant may make in a day is counted over all that descend from the same first one. */
export const tenantsSql = `
-- Null: an operator.
alter table tenants add column made_by_tenant uuid references tenants;
create index tenants_by_maker on tenants (made_by_tenant) where made_by_tenant is not null;
update tenants t set made_by_tenant = a.tenant_id from audit_log a
 where a.action = 'tenant.create' and a.actor_kind = 'user' and a.subject_id = t.id::text and a.tenant_id <> t.id;
`;
