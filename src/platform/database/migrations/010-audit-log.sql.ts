/**
 * What was changed in the panel and by operators, by whom and when. Nobody may alter or remove a line, the tables' owner included: the triggers would
 * have to be dropped first. Data subjects are named by event ids only.
 */
export const auditLogSql = `
create table audit_log (
  seq bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  -- Null: a change that belongs to no tenant, like the rotation of a key of the installation.
  tenant_id uuid,
  actor_kind text not null check (actor_kind in ('user', 'operator', 'service')),
  -- Of a user; null for others.
  actor_id uuid,
  action text not null check (action ~ '^[a-z_]+\\.[a-z_]+$'),
  subject_kind text not null,
  subject_id text not null,
  details jsonb not null,
  check ((actor_kind = 'user') = (actor_id is not null))
);
create index audit_log_by_tenant on audit_log (tenant_id, seq);

create function refuse_audit_log_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_log_is_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_audit_log_change();

grant select on audit_log to consent_ledger_api;
grant select, insert on audit_log to consent_ledger_admin;
grant insert on audit_log to consent_ledger_api, consent_ledger_worker;
`;
