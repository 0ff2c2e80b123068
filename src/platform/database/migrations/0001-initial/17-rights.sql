-- Runs beside: nothing
-- Rights of each role on tables. The right to execute a SECURITY DEFINER function is granted beside
-- the function. docs/database-roles.md shows the result as one table.
--
-- No role may update or delete what was accepted or published, except for the few columns that are
-- listed. SELECT ... FOR UPDATE needs the right to update at least one column.
--
-- `consent-ledger migrate` runs every GRANT and REVOKE of all steps again (restate-rights.ts).

grant usage on schema event_log, read_model to consent_ledger_api, consent_ledger_worker;
grant usage on schema event_log to consent_ledger_admin, consent_ledger_projections;

-- consent_ledger_api answers callers. It adds rows, and marks tokens, keys and users as used.
grant select on
    tenants, subscriptions,
    users, sign_ins, used_refresh_tokens, invitations, password_resets,
    sites, api_keys, webhooks, webhook_progress,
    documents, document_attachments, notice_contents, document_versions, site_configs, site_scans, site_config_drafts,
    keyring,
    record_keys, attachments, approval_tokens, consent_usage,
    quarantined_sites,
    admission_generations, nonces, idempotency, rate_limit_windows,
    event_log.streams, event_log.events, event_log.waiting, event_log.runs, event_log.stored_events,
    event_log.logged_streams, event_log.waiting_events, event_log.unsealed_events,
    projections, projection_generations, projection_views,
    event_log_identity, batches, sealed_events, leaves, persons, ledger_nodes, sealed_streams, sealer_state, ledger_events, ledger_policies,
    checkpoints, checkpoint_tokens, kept_evidence, evidence_parts, ledger_keys, witnesses, cosignatures,
    erasure_requests, erasure_events, erased_records, erasure_progress, scrubs,
    exports, export_jobs, export_chunks, manifest_certificates,
    audit_log
  to consent_ledger_api;
grant insert on
    sign_ins, used_refresh_tokens,
    record_keys, attachments, approval_tokens, consent_usage, site_scans,
    nonces, idempotency, rate_limit_windows,
    erasure_requests, exports, export_jobs, audit_log
  to consent_ledger_api;
grant insert on mails to consent_ledger_api;
grant select, insert, update (requested_at) on sign_up_requests to consent_ledger_api;
grant select (kind) on mails to consent_ledger_api;
grant update on consent_usage, idempotency, rate_limit_windows, exports to consent_ledger_api;
grant update (last_sign_in_at) on users to consent_ledger_api;
grant update (refresh_digest, renewed_at, lapses_at, ended_at, end_reason, seal) on sign_ins to consent_ledger_api;
grant update (last_used_at) on api_keys to consent_ledger_api;
grant update (consumed_by, seal) on approval_tokens to consent_ledger_api;
grant update (seal) on erasure_requests, export_jobs, audit_log to consent_ledger_api;
-- To lock the row of a site.
grant update (config_revision) on sites to consent_ledger_api;
grant delete on rate_limit_windows to consent_ledger_api;

-- consent_ledger_worker relays, seals, stamps, erases and exports. It deletes keys of records, never
-- an event.
grant select on
    tenants, subscriptions, users, sites, api_keys, webhooks, webhook_progress,
    documents, document_attachments, notice_contents, document_versions, site_configs, site_scans,
    keyring,
    record_keys, attachments, approval_tokens,
    consent_usage,
    quarantined_sites,
    admission_generations,
    event_log.streams, event_log.events, event_log.waiting, event_log.runs, event_log.stored_events,
    event_log.logged_streams, event_log.waiting_events, event_log.unsealed_events, event_log.retention,
    projections, projection_generations, projection_views,
    event_log_identity, batches, sealed_events, leaves, persons, ledger_nodes, sealed_streams, sealer_state, ledger_events, ledger_policies,
    checkpoints, checkpoint_tokens, kept_evidence, evidence_parts, ledger_keys, witnesses, cosignatures,
    erasure_requests, erasure_events, erased_records, erasure_progress, scrubs,
    exports, export_jobs, export_chunks, manifest_certificates,
    audit_log
  to consent_ledger_worker;
grant select (id, lapses_at) on sign_ins to consent_ledger_worker;
grant select on sign_up_requests to consent_ledger_worker;
grant select (id, expires_at) on invitations, password_resets, mails to consent_ledger_worker;
grant insert on
    keyring, quarantined_sites,
    event_log_identity, batches, sealed_events, persons, ledger_nodes, sealed_streams, ledger_events, ledger_policies,
    checkpoints, checkpoint_tokens, evidence_parts, ledger_keys, witnesses, cosignatures,
    erasure_requests, erasure_events, erased_records,
    exports, export_chunks, manifest_certificates, audit_log
  to consent_ledger_worker;
grant update on
    quarantined_sites, sealed_streams, sealer_state,
    erasure_requests, erasure_progress, exports, export_jobs
  to consent_ledger_worker;
grant update (retired_at, verifies_until, seal) on keyring to consent_ledger_worker;
grant update (seal) on audit_log to consent_ledger_worker;
grant update (size, updated_at) on witnesses to consent_ledger_worker;
grant update on webhook_progress to consent_ledger_worker;
grant update (disabled_at, disabled_reason, seal) on webhooks to consent_ledger_worker;
grant update (state, problem, changed_at) on projections to consent_ledger_worker;
grant update (records) on persons to consent_ledger_worker;
grant update (erasure_event_id) on erased_records to consent_ledger_worker;
-- To lock rows of sites and tokens.
grant update (config_revision) on sites to consent_ledger_worker;
grant update on approval_tokens to consent_ledger_worker;
grant delete on
    sign_ins, invitations, password_resets, mails, sign_up_requests,
    record_keys, persons, attachments, approval_tokens, quarantined_sites,
    exports, export_jobs, export_chunks
  to consent_ledger_worker;
-- Rows that another log has, after their retention. A trigger keeps those that have a position.
grant delete on event_log.events to consent_ledger_worker;
grant update on event_log.retention to consent_ledger_worker;

-- consent_ledger_projections owns the schema read_model and those of the generations.
grant select, insert, update, delete on projections, projection_generations, projection_views
  to consent_ledger_projections;
-- A rebuild compares the log with what was appended to it.
grant select on event_log.logged_streams to consent_ledger_projections;

-- consent_ledger_admin makes the changes of the panel and of operators. It reads no personal data of
-- data subjects, and alters nothing that was published.
grant select on
    tenants, subscriptions, users, sign_ins, invitations, password_resets, sites, api_keys,
    documents, document_attachments, notice_contents, document_versions, site_configs, site_scans, site_config_drafts,
    consent_usage, erasure_requests, exports, export_jobs, audit_log
  to consent_ledger_admin;
grant select, insert, delete on mails to consent_ledger_admin;
grant update (attempts, next_attempt_at) on mails to consent_ledger_admin;
-- To show whether a text is sealed and stamped.
grant select (stream, event_id, batch) on leaves to consent_ledger_admin;
grant select (number, sealed_at) on batches to consent_ledger_admin;
grant select (size, gen_time) on checkpoints to consent_ledger_admin;
grant insert on
    tenants, subscriptions, users, sign_ins, invitations, password_resets, sites, api_keys,
    documents, document_attachments, notice_contents, document_versions, site_configs, site_scans, site_config_drafts,
    erasure_requests, exports, export_jobs, audit_log
  to consent_ledger_admin;
grant update on tenants, subscriptions, users, sites, api_keys, documents, site_config_drafts to consent_ledger_admin;
grant update (refresh_digest, renewed_at, lapses_at, ended_at, end_reason, seal) on sign_ins to consent_ledger_admin;
grant update (accepted_at, user_id, revoked_at, seal) on invitations to consent_ledger_admin;
grant update (used_at, revoked_at, seal) on password_resets to consent_ledger_admin;
grant update (number, title, media_type, content_sha256, state, event_id, published_at, activated_at, retired_at, seal)
  on document_versions to consent_ledger_admin;
grant update (detached_at, seal) on document_attachments to consent_ledger_admin;
grant update (state, reason, ended_at, seed, seal) on exports to consent_ledger_admin;
grant update (sealed_visitor, claim, deleted_at, seal) on export_jobs to consent_ledger_admin;
grant update (seal) on erasure_requests, audit_log to consent_ledger_admin;
-- The content of a dropped draft is deleted with it. The foreign key keeps every content that a
-- version refers to.
grant delete on document_versions, notice_contents to consent_ledger_admin;
grant select, insert, update, delete on webhooks, webhook_progress to consent_ledger_admin;
-- A new webhook begins where the log ends.
grant select on event_log.logged_streams to consent_ledger_admin;

-- consent_ledger_auditor reads every table, to compare them with the log, and changes none. Its replay
-- of the log is in temporary tables.
grant usage on schema event_log, read_model to consent_ledger_auditor;
grant select on all tables in schema public, event_log to consent_ledger_auditor;
