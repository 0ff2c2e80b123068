/** Columns that the audit does not check, by table and column, each with its reason. `*`: the whole table. */
export const UNCHECKED_COLUMNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  schema_migrations: { applied_at: 'Time for the operator only.' },
  users: { last_sign_in_at: 'Mark of use.' },
  sites: { config_revision: 'Counter: a change makes processes load the site again.' },
  api_keys: { last_used_at: 'Mark of use.' },
  used_refresh_tokens: {
    '*': 'Memory of used tokens, without rights of their own: an altered row lets a copied old token be refused without ending its sign-in.',
  },
  mails: {
    '*': 'Encrypted and bound to its row under a key of the keyring: an altered row is not sent.',
  },
  sign_up_requests: { '*': 'Memory of the last mail to an address, without rights.' },
  consent_usage: { '*': 'Counter of the quota: every admission changes it.' },
  nonces: { '*': 'Memory of about half an hour.' },
  idempotency: { '*': 'Memory of at most 49 hours.' },
  imported_rows: {
    '*': 'Memory of what was imported: an altered row lets a row of a file be imported again, or not at all, and the log has what was imported.',
  },
  admission_generations: { '*': 'Where that memory stands.' },
  rate_limit_windows: { '*': 'Counters of minutes.' },
  quarantined_sites: { '*': 'Each row is a finding, whatever it says.' },
  'event_log.events': {
    metadata: 'About the transport of an event, for traces only.',
    sealed_before:
      'Only the alarm of late sealing reads it. The promise itself is signed, and in the hands of the caller.',
  },
  'event_log.waiting': { created_at: 'Only the age of what waits is measured by it.' },
  'event_log.set_aside': { '*': 'What an operator set aside. No part of the service reads it.' },
  'event_log.retention': { '*': 'Where deletions continue. Only what is sealed and stamped is ever deleted.' },
  projections: { changed_at: 'Time for the operator only.' },
  projection_generations: { created_at: 'Time for the operator only.' },
  event_log_identity: { is_only_row: 'Can have one value only.' },
  sealer_state: {
    is_only_row: 'Can have one value only.',
    compared_on: 'The next worker that starts states it again.',
  },
  checkpoints: { stamped_at: 'Time for the operator only.' },
  witnesses: { '*': 'What each witness said last: its next answer corrects it.' },
  erasure_progress: { '*': 'Where the service continues; it applies what it reads again without harm.' },
  webhook_progress: { '*': 'How far deliveries are. A replay repeats them.' },
  scrubs: { '*': 'Statement of the operator, written by the owner of the tables.' },
  export_jobs: {
    claim: 'Lease of a run.',
    attempts: 'Counter of runs.',
    retry_at: 'Lease of a run.',
    heartbeat_at: 'Lease of a run.',
    started_at: 'Progress of a run.',
    step: 'Progress of a run.',
    done: 'Progress of a run.',
    total: 'Progress of a run.',
  },
  manifest_certificates: { created_at: 'Time for the operator only.' },
};
