import type { components } from './tool-api.js';

type Schemas = components['schemas'];

/** A document of the site with its active version, without the content. */
export type DocumentSummary = Schemas['DocumentSummary'];
/** A document of the site with its active version and the content of that version. */
export type ActiveDocument = Schemas['ActiveDocumentResponse']['data'];
/** A consent that a browser or an app records. */
export type BrowserConsent = Schemas['BrowserConsentRequest'];
/** The service's answer to a recorded consent, with the signed promise to seal it. */
export type Acceptance = Schemas['RecordedConsentResponse']['data'];
/** The signed promise that a record is sealed before a stated time. */
export type SignedPromise = Schemas['SignedPromise'];
/** The banner configuration of a site in one language. */
export type SiteConfiguration = Schemas['ConfigResponse']['data'];
/** A consent that a backend records for a person. */
export type Consent = Schemas['S2sConsentRequest'];
/** Has every member, even where callers compile with `exactOptionalPropertyTypes`. */
type Complete<T> = { [Name in keyof T]-?: Exclude<T[Name], undefined> };
type BatchItem = Schemas['BatchItemResult'];
type Refusal = 'error' | 'error_code' | 'code';
/** The result of one consent of a submission batch. The document has both variants as one schema. */
export type BatchItemResult =
  | (Complete<Omit<BatchItem, Refusal | 'status' | 'warnings'>> &
      Pick<BatchItem, 'warnings'> & { readonly status: 'accepted' })
  | (Complete<Pick<BatchItem, Refusal | 'index'>> & { readonly status: 'rejected' });
/** The results of a submission batch. */
export type BatchResult = Omit<Schemas['ConsentBatchResponse']['data'], 'results'> & {
  readonly results: readonly BatchItemResult[];
};
/** The document and the person for which an approval token is minted. */
export type ApprovalTokenRequest = Schemas['ApprovalTokenRequest'];
export type ApprovalToken = Schemas['ApprovalTokenResponse']['data'];
/** A token by which a backend vouches for a person who is signed in. */
export type PersonToken = Schemas['PersonTokenResponse']['data'];
/** A consent in force. */
export type StatusItem = Schemas['StatusItem'];
/** The result of an integrity check. */
export type Verification = Schemas['VerifyResponse'];
/** A record of an export, with every field. */
export type ExportedConsent = Complete<ExportedFields>;
/** A record of an export with chosen fields: these fields, and `cursor`. */
export type ExportedFields = Omit<Schemas['ExportedItem'], 'erased_record' | 'announced_at'>;
/** An erasure that a copy of the records must repeat. */
export type ExportedErasure = Schemas['ExportedErasure'];
/** The findings of a scan of a page. */
export type ScanResult = Schemas['ScanResult'];
/** The filter of an evidence package, and the personal fields that it discloses. */
export type EvidenceExportRequest = Partial<Omit<Schemas['CreateExportRequest'], 'disclose'>> & {
  /** Personal fields that the package discloses. */
  readonly disclose?: 'all' | 'none' | readonly string[];
};
/** The state of an evidence export. */
export type EvidenceExport = Omit<Schemas['EvidenceExportDetails'], 'disclose'> & {
  /** Personal fields that the package discloses. */
  readonly disclose: 'all' | 'none' | readonly string[];
};
/** A message to a webhook, and its outcome. */
export type WebhookDelivery = Schemas['WebhookDelivery'];
/** The evidence of one record, for `consent-verify check`. */
export type RecordReceipt = Schemas['Receipt'];
export type ErasureRequest = Schemas['S2sErasureRequest'];
export type ErasureReceipt = Schemas['ErasureReceipt'];
export type Ping = Schemas['PingResponse']['data'];
export type Credentials = Schemas['LoginRequest'];
export type StatusQuery = Schemas['GetConsentStatusQuery'];
export type ExportQuery = Schemas['ExportConsentsQuery'];
