-- Runs beside: nothing
-- Changes made in the panel and by operators: by whom and when. A trigger stops every change and
-- removal of a line, also by the owner of the table, who would have to drop the trigger first.

create table audit_log (
  seq bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  tenant_id uuid,
  actor_kind text not null check (actor_kind in ('user', 'operator', 'service')),
  actor_id uuid,
  action text not null check (action ~ '^[a-z_]+\.[a-z_]+$'),
  subject_kind text not null,
  subject_id text not null,
  details jsonb not null,
  seal bytea,
  check ((actor_kind = 'user') = (actor_id is not null))
);
create index audit_log_by_tenant on audit_log (tenant_id, seq);

comment on table audit_log is 'Changes made in the panel and by operators. Data subjects are named by event ids only.';
comment on column audit_log.seq is 'Order of the lines.';
comment on column audit_log.at is 'Time of the change.';
comment on column audit_log.tenant_id is
  'Tenant that the change concerns; null: none, for example the rotation of a key of the installation.';
comment on column audit_log.actor_kind is 'Who made the change: a user, an operator or the service.';
comment on column audit_log.actor_id is 'The user; null: not a user.';
comment on column audit_log.action is 'What was done, for example site.create.';
comment on column audit_log.subject_kind is 'Kind of what was changed.';
comment on column audit_log.subject_id is 'Identifier of what was changed.';
comment on column audit_log.details is 'Details of the change; no personal data of data subjects.';
comment on column audit_log.seal is
  'Keyed hash of the row (20-row-seals.sql); null or wrong: the row was altered.';

create function refuse_audit_log_change() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'UPDATE' and old.seal is null and new.seal is not null and to_jsonb(old) - 'seal' = to_jsonb(new) - 'seal' then
    return new;
  end if;
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end
$$;
comment on function refuse_audit_log_change() is 'Refuses every change of the audit log, except that a new line is sealed.';

create trigger audit_log_is_append_only before update or delete on audit_log
  for each row execute function refuse_audit_log_change();
create trigger audit_log_is_not_truncated before truncate on audit_log
  for each statement execute function refuse_audit_log_change();
