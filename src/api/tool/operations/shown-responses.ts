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

/** A promise that is genuine under keys of its own. */
const SHOWN_PROMISE: JsonObject = {
  text: 'consent-ledger promise v1\nconsent.example.org/ledger\nconsents-019d0b7e-11aa-7bbb-8ccc-0123456789ab\n019d0b7f-90c2-7c4e-8d1f-5a6b7c8d9e0f\nAu8+kRhx1bqwatmWyX1EAsyCgAJDJtgbk1PqrIipaaw=\n2026-11-21T10:00:00.123Z\n2026-11-21T10:10:00.123Z\n',
  index: 0,
  size: 2,
  path: ['da7e922c69c657ed7005b74601eb0b575d7ebf4e2a34ca5c6e99b98401f28210'],
  signed_root:
    'consent-ledger promises v1\nconsent.example.org/ledger\n2\nW4shFG3YmB710FyO6IFAmpheI6OBvvghIUAr73/78Vs=\n\n— consent.example.org/ledger fuMl4ebj/V2IWBFpdjB6dNxcq9RTo9E1jdCiLv5Xy+w1z8yN1J7AFTbXKBP19rgeR2oD+hd1JVnVTvPSdgBabLV3CQU=\n',
  certificate:
    'consent-ledger promise key v1\nconsent.example.org/ledger\nziHA/55uYMZpU+NXfIP24nFHKem08S43qm1sIItKbxA=\n\n— consent.example.org/ledger 7Ly1bS8uHFVysRzJMOfPMki4in3508IiOzqcUwL9K0sx6mZ5L+iCSeSdU6BVk72Xm3qNABLFJlKMWgudHS+c0dil/Qw=\n',
};

export const SHOWN_ACCEPTANCE = {
  consent_token: EXAMPLE_VALUES.consentToken,
  proof_hash: SHOWN.proofHash,
  created_at: SHOWN.createdAt,
  duplicate: false,
  promise: SHOWN_PROMISE,
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
      import: null,
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
