import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';

/**
 * Default description of each property name. A schema's own description takes precedence, and
 * `PROPERTIES` describes the few schemas in which a name has another meaning. The description of a
 * property that is never null omits the text after `; null:`.
 */
const NAMES: Readonly<Record<string, string>> = {
  accepted: 'Number of decisions that accept.',
  accepted_at: 'When the invitation was accepted; null: it was not.',
  access_token: 'Send it as `Authorization: Bearer …`.',
  activated_at: 'When the version became the one that is shown; null: never.',
  actor: 'Who did it.',
  allowed_ips: 'Addresses and ranges that may use the API keys; empty: every address.',
  allowed_origins: 'Origins whose browsers may use the API keys; empty: every origin.',
  api_key_id: 'The API key with which the consent was recorded.',
  approval_token_id: 'The approval token that was used; null: none.',
  at: 'When it was done.',
  attachments: 'Signature picture and custom document of the record.',
  authorities: 'Hosts of the authorities; `development` for the development authority.',
  banner: 'Texts of the banner.',
  batch: 'Number of the Merkle batch; null: in no batch yet.',
  by: 'Kind of the identifier.',
  bytes: 'Size of the package in bytes.',
  categories: 'The decision on each category: true if accepted; null: the consent has no categories.',
  category: 'Key of the category.',
  changed_at: 'When the draft was last changed; null: never.',
  channel: '`browser`: stated by an anonymous browser; `s2s`: stated by a backend of the tenant.',
  checkpoint: 'Size of the checkpoint.',
  checkpoint_size: 'Size of the stamped checkpoint.',
  checkpoints: 'The stamped checkpoints, oldest first.',
  code: 'Stable code of the error.',
  compliance_framework: 'Law under which the person was asked; null: not known.',
  consent_token: 'Identifier of the record, for the person and for verification.',
  consent_type: 'Kind of the consent, for example `cookie`.',
  consents: 'Number of consents.',
  contact: 'How people reach the controller.',
  content: 'The text, or base64 for a binary media type.',
  content_sha256: 'SHA-256 of the content, in hex.',
  controller: 'Who is responsible for the personal data.',
  controller_legal_name: 'Legal name of the controller.',
  cookies: 'The cookies that the site declares.',
  country: 'Country (ISO 3166-1 alpha-2); null: not known.',
  counts: 'What the package contains.',
  created_at: 'When it was created.',
  data: 'The result.',
  day: 'Day in UTC.',
  decision: 'Decision of the person. `partial`: some of the categories.',
  default_language: 'Language (BCP 47) for visitors whose language the site does not have.',
  deleted: 'Always true.',
  deleted_approval_tokens: 'Approval tokens of the person that were deleted.',
  description: 'A note for the team.',
  details: 'Further facts, without personal values of visitors.',
  disabled_at: 'When the user was disabled; null: the user is enabled.',
  document_hash: 'SHA-256 of the text that the person was shown, in hex.',
  document_id: 'The document.',
  document_slug: 'Slug of the document; null: not known to the service.',
  document_version_id: 'The version of the document that the person was shown.',
  documents: 'The active version of each document.',
  domain: 'Domain of the site.',
  duration_seconds: 'How long the browser keeps it, in seconds; null: until the browser is closed.',
  email: 'E-mail address of the user.',
  ended_at: 'When the export ended; null: it has not.',
  ended_sign_ins: 'Number of sign-ins that ended.',
  entries: 'Entries of the log in the package.',
  erased: 'Records whose personal values were erased.',
  error: 'The error in words, and what to do next.',
  error_code: 'Stable code of the error.',
  event_id: 'The event in the log.',
  events: 'Events that are delivered.',
  expires_at: 'Until when the token is valid.',
  field: 'Path of the member, for example `cookies.0.name`.',
  fields: 'The personal fields to disclose: `all`, or a list.',
  format: 'Name of the format.',
  from: 'Start of the period.',
  gen_time: 'Time in the time stamp.',
  has_more_announcements: 'Whether there are more announcements than these.',
  has_second_factor: 'Whether a sign-in requires a code of an app.',
  hash_version: 'Version of the hash format.',
  id: 'UUID of the object.',
  idempotency_key: 'One key for each action; repeat it in each retry.',
  identity_assurance: '`tenant_attested`: a backend of the tenant states who the person is; null: no statement.',
  is_anonymized: 'Whether the personal values were erased.',
  is_disabled: 'Whether the user cannot sign in.',
  is_expired: 'Whether `valid_until` has passed.',
  is_in_force: 'Whether new consents refer to it.',
  is_stamped: 'Only records that a time stamp covers, or only the others.',
  key: 'Key of the category, for example `analytics`.',
  keys: 'The keys, oldest first.',
  kind: 'Kind of the document.',
  language: 'Language (BCP 47).',
  languages: 'Languages (BCP 47) of the site.',
  last_stamp: 'The newest time stamp; null: none yet.',
  last_success_at: 'When a delivery last succeeded; null: never.',
  lawful_basis: 'Why the processing is lawful.',
  legal_name: 'Legal name of the controller.',
  limit: 'Objects on a page.',
  media_type: 'Media type of the content.',
  message: 'What was done, in words.',
  month: 'First day of the calendar month (UTC).',
  name: 'Name that the team chose.',
  new_password: 'The new password.',
  notices: 'Published texts, configurations and other entries that are not consents.',
  number: 'Number of the version, from 1 in the order of publication.',
  partial: 'Number of decisions that accept some of the categories.',
  party: '`first`: set by the site itself; `third`: set by another host.',
  password: 'The new password.',
  personal_data: 'Kinds of personal data that are processed.',
  proof_hash: 'HMAC-SHA256 of the record, in hex.',
  proof_key_id: 'The key of the proof hash.',
  provider: 'Who sets the cookie.',
  published_at: 'When it was published; null: never.',
  purpose: 'What the processing is for.',
  recipients: 'Who receives the data.',
  recovery_codes_left: 'Recovery codes that were not used.',
  refresh_token: 'The refresh token of the last response.',
  refresh_token_in: 'Where the refresh token is: in the body, or in the cookie.',
  region: 'Region of the country, for example a US state; null: not known.',
  rejected: 'Number of decisions that refuse.',
  remains: 'Copies of the erased values, and until when they can exist.',
  renewed_at: 'When the sign-in was last renewed.',
  requested_at: 'When it was requested.',
  requested_by: 'Who requested it.',
  required: 'Whether the site needs it, so that visitors cannot refuse it.',
  requires_approval_token: 'Whether a consent to the document requires an approval token.',
  results: 'One result for each consent, in the order of the request.',
  retention: 'When records are erased without a request.',
  retention_days: 'Days for which the data are kept; null: not limited.',
  retired_at: 'When another version replaced it; null: it was not replaced.',
  revision: 'Changes with each edit. Send the one that you read, and edits in between return 409.',
  revoked_at: 'When it was revoked; null: it was not.',
  role: 'What the user may do.',
  scope: '`write` can record, and contains `read`.',
  sealed_at: 'When the batch was sealed; null: not yet.',
  server_record_found: 'Whether the service has a record of this token.',
  sha256: 'SHA-256, in hex.',
  site: 'The site of the API key.',
  site_config_hash: 'SHA-256 of the configuration in which the person was asked, in hex.',
  site_domain: 'Domain of the site; null: not known to the service.',
  site_id: 'The site.',
  size: 'Number of batches that the checkpoint covers.',
  slug: 'Name of the document in URLs.',
  source: 'Where the answer comes from.',
  stamped_time: 'Time in the first time stamp that covers the event; null: none yet.',
  started_at: 'When the user signed in.',
  state: 'Where it stands.',
  status: 'HTTP status that the consent alone would have had.',
  step: 'What the export does now.',
  stream: 'Stream of the event in the log.',
  subject: 'Whose records, or which record.',
  tenant_id: 'The tenant of the user.',
  texts: 'Texts of the banner by name.',
  time: 'Time of the service.',
  time_zone: 'Time zone of the days.',
  title: 'Title that visitors read.',
  to: 'End of the period.',
  token: 'The token of the link.',
  token_type: 'How the access token is sent.',
  total: 'Number of all decisions.',
  totp_code: 'The six digits that the app shows.',
  type: 'Type of the record.',
  url: 'Where deliveries are sent.',
  user_id: 'The user.',
  valid: 'Whether every check passed.',
  valid_until: 'Until when the consent is valid; null: not limited.',
  validity_days: 'Days for which a consent is valid; null: not limited.',
  value: 'Value of the record.',
  verified_at: 'When the domain was verified; null: it is not.',
  version: 'Version of the format.',
  vouched: 'Fields for which the tenant’s backend vouches with the approval token.',
  withdrawal: 'How consent is withdrawn; null: not written yet.',
  withdrawn: 'Number of withdrawals.',
};

/** Properties whose name has another meaning in this schema. */
const PROPERTIES: Readonly<Record<string, string>> = {
  'ApprovalTokenResponse.data.document_version_id':
    'The only version for which the token is valid; null: the active one.',
  'AuditLogEntry.actor.kind': 'Kind of the actor.',
  'AuditLogEntry.subject': 'The object that it was done to.',
  'AuditLogEntry.subject.id': 'Identifier of the object.',
  'AuditLogEntry.subject.kind': 'Kind of the object.',
  'BannerCookie.name': 'Name of the cookie.',
  'BannerLabel.language': 'Language (BCP 47) of the text.',
  'BannerLabel.text': 'The text.',
  'Batch.number': 'Number of the batch, from 0 without gaps.',
  'BatchItemResult.index': 'Position of the consent in the request, from 0.',
  'BatchItemResult.warnings.message': 'The error in words, and what to do next.',
  'ChangeCookieRequest.name': 'Name of the cookie.',
  'ChangeTenantRequest.name': 'Name of the tenant.',
  'ClientTokenFields.created_at': 'When the consent was recorded; null: unreadable.',
  'ConfigResponse.data.categories': 'The categories of the banner, in their order.',
  'ConfigurationDraft.categories': 'The categories of the banner, in their order.',
  'ConsentBatchResponse.data.accepted': 'Consents that were recorded.',
  'ConsentBatchResponse.data.rejected': 'Consents that were refused.',
  'ConsistencyResponse.data.from': 'Size of the older tree.',
  'ConsistencyResponse.data.size': 'Size of the newer tree.',
  'Cookie.name': 'Name of the cookie.',
  'CreateCookieRequest.name': 'Name of the cookie.',
  'CreateTenantRequest.name': 'Name of the tenant.',
  'CreatedTenant.name': 'Name of the tenant.',
  'DomainVerification.dns_record.name': 'Name of the record.',
  'DraftCookie.name': 'Name of the cookie.',
  'DraftProblem.message': 'The error in words, and what to do next.',
  'Erasure.reason': 'Why the records were erased.',
  'ErasureReceipt.reason': 'Why the records were erased.',
  'ErrorResponse.error.message': 'The error in words, and what to do next.',
  'ErrorResponse.errors.message': 'The error in words, and what to do next.',
  'EvidenceExport.reason': 'Why there is no package; null: nothing went wrong.',
  'EvidenceExport.requested_by.channel': 'Whether it was requested in the panel or by a backend.',
  'EvidenceExportDetails.reason': 'Why there is no package; null: nothing went wrong.',
  'EvidenceExportDetails.requested_by.channel': 'Whether it was requested in the panel or by a backend.',
  'EvidenceFilterSummary.consent_type': 'Only consents of this kind; null: of every kind.',
  'EvidenceFilterSummary.document_version_id': 'Only consents to this document version; null: to every one.',
  'ExportedAttachment.field': 'Field of the consent that has the content.',
  'ExportedAttachment.size': 'Size in bytes.',
  'ExportedConsent.created_at': 'When the consent was recorded; null: unreadable.',
  'FinishedPackage.counts.attachments': 'Signature pictures and custom documents in the package.',
  'PingResponse.message': 'Always `pong`.',
  'Plan.name': 'Name of the plan.',
  'PublicRecord.created_at': 'When the consent was recorded; null: unreadable.',
  'PublicVerifyResponse.data.created_at': 'When the consent was recorded; null: unreadable.',
  'PublicVerifyResponse.data.timestamp.time': 'Time in the time stamp.',
  'ReadConsentResponse.data.revision': 'Position of the event in its stream, from 0.',
  'RecordedConsentResponse.data.warnings.message': 'The error in words, and what to do next.',
  'ReplaceConfigurationRequest.categories': 'The categories of the banner, in their order.',
  'Sealing.index': 'Position in the batch, from 0; null: in no batch yet.',
  'SearchConsentsRequest.channel': 'Only consents from browsers, or from backends.',
  'SearchConsentsRequest.consent_type': 'Only consents of this kind; null: of every kind.',
  'SearchConsentsRequest.decision': 'Only consents with this decision.',
  'SearchConsentsRequest.document_slug': 'Only consents to this document.',
  'SearchConsentsRequest.document_version_id': 'Only consents to this document version; null: to every one.',
  'SearchConsentsRequest.is_anonymized': 'Only records whose personal values were erased, or only the others.',
  'SecondFactorDisabledResponse.data.enabled_at': 'Always null: a sign-in requires no code.',
  'StatusItem.created_at': 'When the consent was recorded; null: unreadable.',
  'StatusResponse.data.consents': 'The consents of the visitor that are in force.',
  'Subscription.name': 'Name of the plan.',
  'Tenant.name': 'Name of the tenant.',
  'VerifiedRecord.created_at': 'When the consent was recorded; null: unreadable.',
  'VerifyConsentInPanelResponse.data.created_at': 'When the consent was recorded; null: unreadable.',
  'VerifyConsentInPanelResponse.data.timestamp.time': 'Time in the time stamp.',
};

/** Every description that this file states, by name or by place. */
export const VOCABULARY: Readonly<Record<string, string>> = { ...NAMES, ...PROPERTIES };

/**
 * JSON Schemas by name, with a description of every property.
 * @param schemas the components of a document
 * @throws Error that names the properties that no description is known for
 */
export function describeProperties(schemas: JsonObject): JsonObject {
  const missing: string[] = [];
  const described = Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, describeValue(schema, name, missing)]),
  );
  if (missing.length > 0) throw new Error(`properties without a description: ${missing.join(', ')}`);
  return described;
}

function describeValue(value: JsonValue, path: string, missing: string[]): JsonValue {
  if (Array.isArray(value)) return value.map((item) => describeValue(item, path, missing));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === 'properties' && isObject(member)
        ? describeMembers(member, path, missing)
        : describeValue(member, path, missing),
    ]),
  );
}

function describeMembers(properties: JsonObject, path: string, missing: string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const place = `${path}.${name}`;
      const inner = describeValue(property, place, missing);
      if (!isObject(inner) || inner.description !== undefined || inner.$ref !== undefined) return [name, inner];
      const known = VOCABULARY[place] ?? VOCABULARY[name];
      if (known === undefined) missing.push(place);
      return [name, { description: descriptionFor(inner, known ?? ''), ...inner }];
    }),
  );
}

/** The description, without what it says of null if the property is never null. */
function descriptionFor({ type, anyOf }: JsonObject, description: string): string {
  const types = [type, ...(Array.isArray(anyOf) ? anyOf.map((one) => (isObject(one) ? one.type : null)) : [])].flat();
  return types.includes('null') ? description : description.replace(/; null: .*$/, '.');
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
