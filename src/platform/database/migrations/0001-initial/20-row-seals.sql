-- Runs beside: nothing
-- Seals of rows that no other record binds: those that grant rights, and those that say what the
-- service and its users did. The seal is a keyed hash under a key that the database holds only encrypted.
-- A person who can only write to the database can make no valid one. The service computes it before the
-- commit of each transaction that changes such a row (src/platform/keys/row-seals.ts), and checks it when
-- it loads a row that grants something. `consent-ledger audit` checks all of them.
--
-- The trigger lists the changes in a setting that lives as long as the transaction. Its argument names
-- the primary key.

create function note_changed_row() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform set_config('consent_ledger.changed_rows',
    coalesce(current_setting('consent_ledger.changed_rows', true), '')
      || jsonb_build_object('table', tg_table_name, 'id', to_jsonb(new) ->> tg_argv[0], 'before', case tg_op when 'UPDATE' then old::text end)::text
      || e'\n',
    true);
  return null;
end
$$;
comment on function note_changed_row() is 'Lists a changed row for its seal, with the row as it was before.';

create trigger changes_are_sealed after insert or update of
    id, name, made_by_tenant, created_at
  on tenants for each row execute function note_changed_row('id');

create trigger changes_are_sealed after insert or update of
    tenant_id, plan, is_active, rate_limit_per_minute, consent_quota
  on subscriptions for each row execute function note_changed_row('tenant_id');

create trigger changes_are_sealed after insert or update of
    id, tenant_id, email, password_hash, role, created_at, disabled_at, totp_secret,
    totp_confirmed_at, totp_last_step, recovery_digests
  on users for each row execute function note_changed_row('id');

create trigger changes_are_sealed after insert or update of
    id, tenant_id, name, domain, verification_token, verified_at, allowed_origins,
    allowed_ips, retention_days, site_config_hash, created_at
  on sites for each row execute function note_changed_row('id');

create trigger changes_are_sealed after insert or update of
    id, user_id, refresh_digest, started_at, renewed_at, expires_at, lapses_at, ended_at,
    end_reason
  on sign_ins for each row execute function note_changed_row('id');

create trigger changes_are_sealed after insert or update of
    id, tenant_id, email, role, token_digest, invited_by, created_at, expires_at,
    accepted_at, user_id, revoked_at
  on invitations for each row execute function note_changed_row('id');

create trigger changes_are_sealed after insert or update of
    id, user_id, token_digest, made_by, created_at, expires_at, used_at, revoked_at
  on password_resets for each row execute function note_changed_row('id');

create trigger changes_are_sealed after insert or update of
    id, site_id, name, digest, prefix, scope, restriction, created_at, expires_at,
    replaced_by, revoked_at
  on api_keys for each row execute function note_changed_row('id');

create trigger changes_are_sealed after insert or update of
    id, site_id, url, description, events, secret, previous_secret, previous_secret_until, created_at,
    disabled_at, disabled_reason
  on webhooks for each row execute function note_changed_row('id');

create trigger changes_are_sealed after insert or update of
    id, site_id, slug, kind, requires_approval_token, created_at
  on documents for each row execute function note_changed_row('id');

create trigger changes_are_sealed after insert or update of
    id, document_id, site_id, attached_at, detached_at
  on document_attachments for each row execute function note_changed_row('id');

create trigger changes_are_sealed after insert or update of
    id, document_id, site_id, home_version_id, language, number, title, media_type,
    content_sha256, state, event_id, published_at, activated_at, retired_at
  on document_versions for each row execute function note_changed_row('id');

create trigger changes_are_sealed after insert or update of
    site_id, revision, content, changed_at
  on site_config_drafts for each row execute function note_changed_row('site_id');

create trigger changes_are_sealed after insert or update of
    id, site_id, digest, document_id, document_version_id, custom_document_hash, seed,
    identity, visitor_index, email_index, phone_index, id_number_index, created_at,
    expires_at
  on approval_tokens for each row execute function note_changed_row('id');

create trigger changes_are_sealed after insert or update of
    id, site_id, channel, request_digest, reason, index_kind, blind_index, event_id,
    requested_at, erased_count, deleted_token_count, cancelled_export_count,
    destroyed_package_count, finished_at
  on erasure_requests for each row execute function note_changed_row('id');

create trigger changes_are_sealed after insert or update of
    id, site_id, state, reason, requested_by, started_at, ended_at, seed
  on exports for each row execute function note_changed_row('id');

create trigger changes_are_sealed after insert or update of
    export_id, tenant_id, site_id, requested_by, channel, requested_at, filter, by_visitor,
    sealed_visitor, disclose, chunks, sha256, checkpoint, counts,
    sealed_disclosures, expires_at, deleted_at
  on export_jobs for each row execute function note_changed_row('export_id');

create trigger changes_are_sealed after insert or update of
    seq, at, tenant_id, actor_kind, actor_id, action, subject_kind, subject_id, details
  on audit_log for each row execute function note_changed_row('seq');
