export type { FieldError } from '../../shared/service-error.js';
export { type ErrorCode, ServiceError } from '../../shared/service-error.js';
export type {
  Acceptance,
  ActiveDocument,
  ApprovalToken,
  ApprovalTokenRequest,
  BatchResult,
  Consent,
  Credentials,
  DocumentSummary,
  ErasureReceipt,
  ErasureRequest,
  EvidenceExport,
  EvidenceExportRequest,
  ExportedConsent,
  ExportedErasure,
  ExportedFields,
  PersonToken,
  Ping,
  RecordReceipt,
  ScanResult,
  SignedPromise,
  SiteConfiguration,
  StatusItem,
  StatusQuery,
  Verification,
  WebhookDelivery,
} from '../../shared/types.js';
export { ConsentLedger, type FieldChoice, PERSONAL_FIELDS, type RecordFilter } from './consent-ledger.js';
export { IdempotencyConflict } from './idempotency-conflict.js';
export type { LedgerOptions } from './options.js';
export { type RenewalRequest, renewedCookies } from './renewed-cookies.js';
export { InvalidWebhook, verifyWebhook, type WebhookEvent, type WebhookHeaders } from './webhooks.js';
