/**
 * Columns with secrets, with personal values or with anything that opens or finds them. PostgreSQL
 * must keep no sample of them: `ANALYZE` copies values of ordinary columns to `pg_statistic`, where
 * they would outlive the row. The SQL of the schema sets their statistics target to 0
 * (`19-planner-statistics.sql`), a test compares both, and `admin scrub` restores it.
 */
export const SECRET_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  users: ['email', 'password_hash', 'totp_secret', 'recovery_digests'],
  sign_ins: ['refresh_digest'],
  used_refresh_tokens: ['digest'],
  invitations: ['email', 'token_digest'],
  password_resets: ['token_digest'],
  mails: ['content', 'network_digest', 'recipient_digest'],
  sign_up_requests: ['address_digest', 'network_digest'],
  api_keys: ['digest'],
  webhooks: ['url', 'secret', 'previous_secret'],
  keyring: ['wrapped'],
  record_keys: ['seed', 'visitor_index', 'email_index', 'phone_index', 'id_number_index', 'seal'],
  attachments: ['ciphertext'],
  approval_tokens: [
    'digest',
    'custom_document_hash',
    'seed',
    'identity',
    'visitor_index',
    'email_index',
    'phone_index',
    'id_number_index',
  ],
  'event_log.events': ['data'],
  'event_log.set_aside': ['data'],
  idempotency: ['digest', 'body_digest'],
  rate_limit_windows: ['bucket'],
  imported_rows: ['digest'],
  persons: ['visitor_index', 'seed'],
  ledger_keys: ['salt_key'],
  ledger_events: ['body'],
  erasure_requests: ['request_digest', 'blind_index'],
  exports: ['seed'],
  export_jobs: ['sealed_visitor', 'sealed_disclosures'],
  export_chunks: ['ciphertext'],
};
