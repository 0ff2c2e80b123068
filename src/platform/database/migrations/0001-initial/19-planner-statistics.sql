-- Runs beside: nothing
-- Columns with secrets and personal values, and with what finds or opens them. ANALYZE copies values of
-- a column to pg_statistic and keeps them there after the row was deleted: seeds of erased records were
-- read from there. No statistics are collected on these columns.
--
-- The planner then assumes that a value matches one row in 200. Statements that look such a column up
-- leave it no choice but the index. src/platform/database/secret-columns.ts has the same list, for
-- admin scrub.

alter table users
  alter column email set statistics 0,
  alter column password_hash set statistics 0,
  alter column totp_secret set statistics 0,
  alter column recovery_digests set statistics 0;
alter table sign_ins
  alter column refresh_digest set statistics 0;
alter table used_refresh_tokens
  alter column digest set statistics 0;
alter table invitations
  alter column email set statistics 0,
  alter column token_digest set statistics 0;
alter table password_resets
  alter column token_digest set statistics 0;
alter table mails
  alter column content set statistics 0;
alter table sign_up_requests
  alter column address_digest set statistics 0;
alter table api_keys
  alter column digest set statistics 0;
alter table webhooks
  alter column url set statistics 0,
  alter column secret set statistics 0,
  alter column previous_secret set statistics 0;
alter table keyring
  alter column wrapped set statistics 0;
alter table record_keys
  alter column seed set statistics 0,
  alter column visitor_index set statistics 0,
  alter column email_index set statistics 0,
  alter column phone_index set statistics 0,
  alter column id_number_index set statistics 0,
  alter column seal set statistics 0;
alter table attachments
  alter column ciphertext set statistics 0;
alter table approval_tokens
  alter column digest set statistics 0,
  alter column custom_document_hash set statistics 0,
  alter column seed set statistics 0,
  alter column identity set statistics 0,
  alter column visitor_index set statistics 0,
  alter column email_index set statistics 0,
  alter column phone_index set statistics 0,
  alter column id_number_index set statistics 0;
alter table event_log.events
  alter column data set statistics 0;
alter table event_log.set_aside
  alter column data set statistics 0;
alter table idempotency
  alter column digest set statistics 0,
  alter column body_digest set statistics 0;
alter table rate_limit_windows
  alter column bucket set statistics 0;
alter table persons
  alter column visitor_index set statistics 0,
  alter column seed set statistics 0;
alter table erasure_requests
  alter column request_digest set statistics 0,
  alter column blind_index set statistics 0;
alter table exports
  alter column seed set statistics 0;
alter table export_jobs
  alter column sealed_visitor set statistics 0,
  alter column sealed_disclosures set statistics 0;
alter table export_chunks
  alter column ciphertext set statistics 0;
alter table ledger_keys
  alter column salt_key set statistics 0;
alter table ledger_events
  alter column body set statistics 0;
