import { PERSONAL_FIELDS } from '../../../../schemas/api/export.js';
import type { JsonObject } from '../../../../schemas/json/json-value.js';
import { EXAMPLE_VALUES, SHOWN } from '../../server/example-values.js';

/** Parts of the example responses. */
export const SHOWN_DOCUMENT: JsonObject = {
  id: SHOWN.documentId,
  slug: 'cookie-policy',
  kind: 'cookie_policy',
  requires_approval_token: false,
  language: 'en',
  version: {
    id: EXAMPLE_VALUES.versionId,
    number: 2,
    language: 'en',
    title: 'Cookie policy',
    media_type: 'text/plain',
    content_sha256: SHOWN.sha256,
  },
};

export const SHOWN_ACCEPTANCE = {
  consent_token: EXAMPLE_VALUES.consentToken,
  proof_hash: SHOWN.proofHash,
  created_at: SHOWN.createdAt,
  duplicate: false,
};

export const SHOWN_ACCEPTED: JsonObject = { message: 'Consent accepted.', data: SHOWN_ACCEPTANCE };

export const SHOWN_BATCH: JsonObject = {
  message: 'Batch processed; see the result of each item.',
  data: { accepted: 1, rejected: 0, results: [{ index: 0, status: 'accepted', ...SHOWN_ACCEPTANCE }] },
};

export const SHOWN_EXPORT: JsonObject = {
  data: [
    {
      id: SHOWN.consentId,
      consent_token: EXAMPLE_VALUES.consentToken,
      proof_hash: SHOWN.proofHash,
      hash_version: 2,
      proof_key_id: SHOWN.proofKeyId,
      site_id: SHOWN.siteId,
      consent_type: 'cookie',
      decision: 'partial',
      categories: { necessary: true, analytics: false },
      language: 'en',
      document_version_id: EXAMPLE_VALUES.versionId,
      document_hash: SHOWN.sha256,
      site_config_hash: SHOWN.sha256,
      compliance_framework: 'gdpr',
      created_at: SHOWN.createdAt,
      valid_until: SHOWN.validUntil,
      channel: 's2s',
      api_key_id: SHOWN.documentId,
      identity_assurance: null,
      approval_token_id: null,
      vouched: [],
      document_slug: 'cookie-policy',
      is_anonymized: false,
      ...Object.fromEntries(PERSONAL_FIELDS.map((name) => [name, null])),
      visitor_id: EXAMPLE_VALUES.visitorId,
      attachments: [],
      cursor: 'djE6NDE',
    },
  ],
  next_cursor: null,
};
