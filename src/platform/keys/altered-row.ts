/** Tables whose rows have a seal: see row-seals.ts. */
export const SEALED_TABLE_NAMES = [
  'tenants',
  'subscriptions',
  'users',
  'sites',
  'api_keys',
  'webhooks',
  'sign_ins',
  'invitations',
  'password_resets',
  'documents',
  'document_attachments',
  'document_versions',
  'site_config_drafts',
  'approval_tokens',
  'erasure_requests',
  'exports',
  'export_jobs',
  'audit_log',
] as const;
export type SealedTable = (typeof SEALED_TABLE_NAMES)[number];

/** Tables whose rows the service checks when it loads them. */
export const ALTERED_ROW_TABLES = ['record_keys', 'keyring', 'read_model.consents', ...SEALED_TABLE_NAMES] as const;

/** A stored row that the service did not write in this form. It is left out and grants nothing. */
export interface AlteredRow {
  readonly table: (typeof ALTERED_ROW_TABLES)[number];
  /** Value of the primary key. It names no person. */
  readonly id: string;
}

/** Receives each altered row that was found, for log and metrics. Must not throw. */
export type ReportAlteredRow = (row: AlteredRow) => void;
