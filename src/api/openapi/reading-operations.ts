import { z } from 'zod';
import { LanguageQuery } from '../../../schemas/api/common.js';
import { DocumentParams } from '../../../schemas/api/documents.js';
import { StatusQuery } from '../../../schemas/api/status.js';
import type { Operation } from './operation.js';
import { SHOWN_CHECK, SHOWN_DOCUMENT } from './shown-responses.js';
import { EXAMPLE_VALUES, SHOWN } from './values.js';

/** The routes of the Tool API that any API key may read. */
export const READING_OPERATIONS: readonly Operation[] = [
  {
    id: 'ping',
    method: 'get',
    path: '/tool/v1/ping',
    summary: 'Liveness check for agents',
    access: 'key',
    status: 200,
    response: 'PingResponse',
    errors: [],
    example: {
      response: { message: 'pong', data: { site_id: SHOWN.siteId, scope: 'read', time: SHOWN.createdAt } },
    },
  },
  {
    id: 'getConfig',
    method: 'get',
    path: '/tool/v1/config',
    summary: 'Banner configuration, attached documents, detected region',
    description:
      'The region is a hint for the banner: from the headers of a trusted proxy, else from an IP data set. Null where it is not known.',
    access: 'key',
    query: LanguageQuery,
    status: 200,
    response: 'ConfigResponse',
    errors: ['CONFIG_OUTDATED', 'VALIDATION_ERROR'],
    example: {
      query: { language: 'en' },
      response: {
        data: {
          site: { id: SHOWN.siteId, domain: 'shop.example' },
          language: 'en',
          default_language: 'en',
          languages: ['en', 'tr'],
          site_config_hash: SHOWN.sha256,
          controller: { legal_name: 'Demonstration Shop Ltd.', contact: 'privacy@shop.example' },
          validity_days: 365,
          banner: { title: 'Your choice', text: 'May we use cookies?' },
          withdrawal: 'Open “Cookie settings” at the foot of any page.',
          categories: [
            {
              key: 'analytics',
              required: false,
              title: 'Statistics',
              purpose: 'Visits are counted.',
              lawful_basis: 'consent',
              personal_data: ['pages visited'],
              recipients: ['Demonstration Analytics Ltd.'],
              retention_days: 365,
              cookies: [
                {
                  name: '_visits',
                  provider: 'Example Analytics Ltd.',
                  party: 'first',
                  duration_seconds: 31_536_000,
                  purpose: 'Tells visits apart to count them.',
                },
              ],
            },
          ],
          documents: [SHOWN_DOCUMENT],
          region: { country: 'TR', region: null, compliance_framework: 'kvkk' },
        },
      },
    },
  },
  {
    id: 'getActiveDocuments',
    method: 'get',
    path: '/tool/v1/documents/active',
    summary: 'Active documents attached to the site',
    access: 'key',
    query: LanguageQuery,
    status: 200,
    response: 'ActiveDocumentsResponse',
    errors: ['VALIDATION_ERROR'],
    example: { query: { language: 'en' }, response: { data: { documents: [SHOWN_DOCUMENT] } } },
  },
  {
    id: 'getActiveDocument',
    method: 'get',
    path: '/tool/v1/documents/{slug}/active',
    summary: 'Active version of one document, with its content',
    access: 'key',
    pathParameters: DocumentParams,
    query: LanguageQuery,
    status: 200,
    response: 'ActiveDocumentResponse',
    errors: ['DOCUMENT_NOT_FOUND', 'VALIDATION_ERROR'],
    example: {
      path: { slug: 'cookie-policy' },
      query: { language: 'en' },
      response: { data: { ...SHOWN_DOCUMENT, content: 'The shop needs some cookies.' } },
    },
  },
  {
    id: 'getConsentStatus',
    method: 'get',
    path: '/tool/v1/consents/status',
    summary: 'Current consents of one visitor',
    description:
      'Up to 20 consents that have not expired, the newest first. No personal field: the key sits in browsers.',
    access: 'key',
    query: StatusQuery,
    status: 200,
    response: 'StatusResponse',
    errors: ['VALIDATION_ERROR'],
    example: {
      query: { visitor_id: EXAMPLE_VALUES.visitorId, consent_type: 'cookie' },
      response: {
        data: {
          consents: [
            {
              id: SHOWN.consentId,
              consent_token: EXAMPLE_VALUES.consentToken,
              proof_hash: SHOWN.proofHash,
              consent_type: 'cookie',
              decision: 'partial',
              categories: { necessary: true, analytics: false },
              language: 'en',
              document_slug: 'cookie-policy',
              document_version_id: EXAMPLE_VALUES.versionId,
              compliance_framework: 'gdpr',
              created_at: SHOWN.createdAt,
              valid_until: SHOWN.validUntil,
            },
          ],
        },
      },
    },
  },
  {
    id: 'verifyConsent',
    method: 'get',
    path: '/tool/v1/consents/verify/{id}',
    summary: 'Integrity check of one record',
    access: 'key',
    pathParameters: z.object({ id: z.string().describe('A consent UUID, a consent token (ct_…) or a proof hash.') }),
    status: 200,
    response: 'VerifyResponse',
    errors: ['CONSENT_NOT_FOUND'],
    example: { path: { id: EXAMPLE_VALUES.consentToken }, response: { valid: true, data: SHOWN_CHECK } },
  },
];
