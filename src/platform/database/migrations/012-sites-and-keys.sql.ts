/** What proves that a domain is a tenant's, names and ends of API keys, and when each key was last used. */
export const sitesAndKeysSql = `
-- What the domain's TXT record must say; another one after each change of the domain.
alter table sites add column verification_token text not null default replace(gen_random_uuid()::text, '-', '');
create index sites_by_tenant on sites (tenant_id, id);

alter table api_keys add column name text not null default '';
-- Of a key that was rotated: it works until then beside the one that took its place.
alter table api_keys add column expires_at timestamptz;
alter table api_keys add column replaced_by uuid references api_keys;
-- To the minute.
alter table api_keys add column last_used_at timestamptz;
grant update (last_used_at) on api_keys to consent_ledger_api;

grant select on consent_usage to consent_ledger_admin;
`;
