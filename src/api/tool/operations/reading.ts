import * as z from 'zod';
import { LanguageQuery, ScannerQuery } from '../../../../schemas/api/common.js';
import { ConfigResponse } from '../../../../schemas/api/config.js';
import { ActiveDocumentResponse, ActiveDocumentsResponse, DocumentParams } from '../../../../schemas/api/documents.js';
import { NoBody, None } from '../../../../schemas/api/panel/common.js';
import { PingResponse } from '../../../../schemas/api/ping.js';
import { StatusQuery, StatusResponse } from '../../../../schemas/api/status.js';
import { VerifyResponse } from '../../../../schemas/api/verify.js';
import { bannerLabels } from '../../../../schemas/banner/banner-labels.js';
import { EXAMPLE_VALUES, SHOWN, SHOWN_CHECK } from '../../server/example-values.js';
import { AnyQuery, defineOperation } from '../../server/operation.js';
import { ANY_KEY, CONFIGURATION } from '../access.js';
import { SHOWN_DOCUMENT } from './shown-responses.js';

const reading = { method: 'get', access: ANY_KEY, body: NoBody, status: 200, action: null } as const;

/** Query of the routes that the public scanner serves, too. */
const SiteQuery = LanguageQuery.extend(ScannerQuery.shape);

/** Defaults of the routes that every visit to a page loads. */
const configuration = {
  ...reading,
  access: CONFIGURATION,
  headers: {
    ETag: 'Validator of the response. A request with it in `If-None-Match` gets 304 while it is current.',
    'Cache-Control':
      'A browser may keep the response for a minute. After 409 `CONFIG_OUTDATED`, read it again with `Cache-Control: no-cache`.',
  },
} as const;

export const ping = defineOperation({
  ...reading,
  id: 'ping',
  path: '/tool/v1/ping',
  tag: 'Site',
  summary: 'Check the connection and the API key',
  description:
    'Returns the site and the scope of the key, and the time of the service, by which a client can correct its own.',
  params: None,
  query: ScannerQuery,
  response: PingResponse,
  errors: ['SITE_NOT_FOUND'],
  example: {
    response: { message: 'pong', data: { site_id: SHOWN.siteId, scope: 'read', time: SHOWN.createdAt } },
  },
});

export const getConfig = defineOperation({
  ...configuration,
  id: 'getConfig',
  path: '/tool/v1/config',
  tag: 'Site',
  summary: 'Get the banner configuration, the attached documents and the detected region',
  description:
    'The region is a hint for the banner. It comes from the headers of a trusted proxy, else from an IP data set, and is null if it is unknown.',
  params: None,
  query: SiteQuery,
  response: ConfigResponse,
  errors: ['CONFIG_OUTDATED', 'SITE_NOT_FOUND'],
  example: {
    query: { language: 'en' },
    response: {
      data: {
        site: { id: SHOWN.siteId, domain: 'shop.example' },
        language: 'en',
        default_language: 'en',
        languages: ['en', 'tr'],
        direction: 'ltr',
        site_config_hash: SHOWN.sha256,
        controller: { legal_name: 'Demonstration Shop Ltd.', contact: 'privacy@shop.example' },
        validity_days: 365,
        banner: { title: 'Your choice', text: 'May we use cookies?' },
        labels: bannerLabels({}, 'en'),
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
                purpose: 'Distinguishes visits to count them.',
              },
            ],
          },
        ],
        documents: [SHOWN_DOCUMENT],
        appearance: null,
        region: { country: 'TR', region: null, compliance_framework: 'kvkk' },
      },
    },
  },
});

export const getActiveDocuments = defineOperation({
  ...configuration,
  id: 'getActiveDocuments',
  path: '/tool/v1/documents/active',
  tag: 'Site',
  summary: 'List the active documents of the site',
  description: 'Returns the active version of each document in the best language, without its content.',
  params: None,
  query: SiteQuery,
  response: ActiveDocumentsResponse,
  errors: ['SITE_NOT_FOUND'],
  example: { query: { language: 'en' }, response: { data: { documents: [SHOWN_DOCUMENT] } } },
});

export const getActiveDocument = defineOperation({
  ...configuration,
  id: 'getActiveDocument',
  path: '/tool/v1/documents/{slug}/active',
  tag: 'Site',
  summary: 'Get the active version of one document, with its content',
  description:
    'Show exactly this text: a consent refers to the version by its `id`, and its record has the hash of the content.',
  params: DocumentParams,
  invalidParams: 'DOCUMENT_NOT_FOUND',
  query: SiteQuery,
  response: ActiveDocumentResponse,
  errors: ['DOCUMENT_NOT_FOUND', 'SITE_NOT_FOUND'],
  example: {
    path: { slug: 'cookie-policy' },
    query: { language: 'en' },
    response: { data: { ...SHOWN_DOCUMENT, content: 'The shop needs some cookies.' } },
  },
});

export const getConsentStatus = defineOperation({
  ...reading,
  id: 'getConsentStatus',
  path: '/tool/v1/consents/status',
  tag: 'Consents',
  summary: 'List the consents of one visitor that are in force',
  description:
    'Returns up to 20 consents that have not expired, newest first. The response has no personal field, because browsers contain the API key.',
  params: None,
  query: StatusQuery,
  response: StatusResponse,
  errors: [],
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
            imported_from: null,
            claimed_at: null,
          },
        ],
      },
    },
  },
});

export const verifyConsent = defineOperation({
  ...reading,
  id: 'verifyConsent',
  path: '/tool/v1/consents/verify/{id}',
  tag: 'Consents',
  summary: 'Check the integrity of one record',
  description: 'A record of another tenant returns the same response as one that does not exist.',
  params: z.object({
    id: z.string().describe('The UUID, the consent token (`ct_…`) or the proof hash of the record.'),
  }),
  invalidParams: 'CONSENT_NOT_FOUND',
  query: AnyQuery,
  response: VerifyResponse,
  errors: ['CONSENT_NOT_FOUND'],
  example: { path: { id: EXAMPLE_VALUES.consentToken }, response: { valid: true, data: SHOWN_CHECK } },
});

/** Operations of the Tool API that any API key may call. */
export const READING_OPERATIONS = [
  ping,
  getConfig,
  getActiveDocuments,
  getActiveDocument,
  getConsentStatus,
  verifyConsent,
];
