-- Runs beside: nothing
-- Group roles that the service's connections take on (SET ROLE). None of them can log in.
--
--   consent_ledger_api          answers callers: admission, look-ups, verification
--   consent_ledger_worker       relay, sealer, stamper, erasure, exports
--   consent_ledger_projections  owns the read models and changes nothing else
--   consent_ledger_admin        changes tenants, sites, keys, users and documents
--   consent_ledger_auditor      reads everything and changes nothing: `consent-ledger audit`
--
-- Roles belong to the whole server. The migration of another database may be creating the same
-- roles at this moment, so a role that exists already is not an error. If the roles exist and are
-- granted to the migrating user, that user does not need CREATEROLE.

do $$
declare
  wanted text;
  -- PostgreSQL 16 separated the right to SET ROLE from membership.
  privilege text := case
    when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER'
  end;
begin
  foreach wanted in array array[
    'consent_ledger_api', 'consent_ledger_worker', 'consent_ledger_projections', 'consent_ledger_admin',
    'consent_ledger_auditor'
  ] loop
    if not exists (select from pg_roles where rolname = wanted) then
      begin
        execute format('create role %I nologin', wanted);
      exception when duplicate_object or unique_violation then
        null;
      end;
    end if;
    if not pg_has_role(current_user, wanted, privilege) then
      execute format('grant %I to %I', wanted, current_user);
    end if;
  end loop;
end
$$;
