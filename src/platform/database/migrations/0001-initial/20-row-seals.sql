-- Seals of rows that grant rights: users with their sign-ins, invitations and password resets, sites and
-- API keys. The seal is a keyed hash under a key that the database holds only encrypted. A person who can
-- only write to the database can make no valid one. The service computes it before the commit of each
-- transaction that changes such a row (src/platform/keys/row-seals.ts), and checks it when it loads the
-- row.
--
-- The trigger lists the changes in a setting that lives as long as the transaction.

create function note_changed_row() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform set_config('consent_ledger.changed_rows',
    coalesce(current_setting('consent_ledger.changed_rows', true), '')
      || jsonb_build_object('table', tg_table_name, 'id', new.id, 'before', case tg_op when 'UPDATE' then old::text end)::text
      || e'\n',
    true);
  return null;
end
$$;
comment on function note_changed_row() is 'Lists a changed row for its seal, with the row as it was before.';

create trigger changes_are_sealed after insert or update of
    id, tenant_id, email, password_hash, role, disabled_at
  on users for each row execute function note_changed_row();

create trigger changes_are_sealed after insert or update of
    id, tenant_id, domain, verification_token, verified_at, allowed_origins,
    allowed_ips, retention_days, site_config_hash
  on sites for each row execute function note_changed_row();

create trigger changes_are_sealed after insert or update of
    id, user_id, refresh_digest, expires_at, lapses_at, ended_at
  on sign_ins for each row execute function note_changed_row();

create trigger changes_are_sealed after insert or update of
    id, tenant_id, email, role, token_digest, invited_by, expires_at, accepted_at,
    revoked_at
  on invitations for each row execute function note_changed_row();

create trigger changes_are_sealed after insert or update of
    id, user_id, token_digest, made_by, expires_at, used_at, revoked_at
  on password_resets for each row execute function note_changed_row();

create trigger changes_are_sealed after insert or update of
    id, site_id, digest, scope, expires_at, replaced_by, revoked_at
  on api_keys for each row execute function note_changed_row();
