import type { components } from './panel-api.js';

type Schemas = components['schemas'];

export type User = Schemas['User'];
export type CurrentUser = Schemas['UserSummary'];
export type Role = User['role'];
export type Site = Schemas['Site'];
export type DomainVerification = Schemas['DomainVerification'];
export type ApiKey = Schemas['ApiKey'];
export type NewApiKey = Schemas['NewApiKey'];
export type IdempotencyConflict = Schemas['IdempotencyConflict'];
export type Webhook = Schemas['Webhook'];
export type NewWebhook = Schemas['NewWebhook'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
export type ErrorBody = Schemas['ErrorResponse'];

/** A page of a list. */
export interface PageOf<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}
export type ConsentSummary = Schemas['ConsentSummary'];
export type ConsentDetails = Schemas['ConsentDetails'];
export type PublicRecord = Schemas['PublicRecord'];
export type PersonReference = Schemas['PersonReference'];
export type Erasure = Schemas['Erasure'];
export type ErasureReceipt = Schemas['ErasureReceipt'];
export type Document = Schemas['LegalDocument'];
export type DocumentAttachment = Schemas['DocumentAttachment'];
export type DocumentVersion = Schemas['DocumentVersion'];
export type EvidenceExport = Schemas['EvidenceExport'];
export type Statistics = Schemas['ConsentStatistics'];
export type Breakdown = Schemas['ConsentBreakdown'];
export type Alarm = Schemas['Alarm'];
export type Invitation = Schemas['Invitation'];
export type ConfigurationDraft = Schemas['ConfigurationDraft'];
export type ConfigurationVersion = Schemas['ConfigurationVersion'];
export type DraftLink = Schemas['DraftLink'];
export type Category = Schemas['Category'];
export type DraftCookie = Schemas['DraftCookie'];
export type ScanResult = Schemas['ScanResult'];
export type RecordedScan = Schemas['RecordedScan'];
export type AuditEntry = Schemas['AuditLogEntry'];
export type NamedThing = Schemas['NamedThing'];
export type Attachment = Schemas['ExportedAttachment'];
