import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { LanguageQuery, ScannerQuery } from '../../../schemas/api/common.js';
import { ConfigResponse, type DetectedPlace } from '../../../schemas/api/config.js';
import { ActiveDocumentResponse, ActiveDocumentsResponse, DocumentParams } from '../../../schemas/api/documents.js';
import { ApiError, type FieldError } from '../../../schemas/api/error-codes.js';
import { PingResponse } from '../../../schemas/api/ping.js';
import { bannerInLanguage } from '../../../schemas/banner/banner-in-language.js';
import { bannerLabels } from '../../../schemas/banner/banner-labels.js';
import { labelsIn } from '../../../schemas/banner/known-labels.js';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
import type { SiteRule } from '../../../schemas/events/site-config.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { chooseLanguage } from '../../../schemas/language/choose-language.js';
import { isWellFormed, localeOf } from '../../../schemas/language/language-tag.js';
import { matchLanguage } from '../../../schemas/language/match-language.js';
import { refusalDays } from '../../../schemas/law/periods.js';
import { isSignalRequest, ruleAt } from '../../../schemas/law/rule-at.js';
import { acceptedLanguages } from '../../platform/accepted-languages.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { DetectRegion } from '../../platform/jurisdiction/detect-region.js';
import type { KeyUsage } from '../../tenancy/api-keys/key-usage.js';
import { contentOfDraft, readConfigDraft } from '../../tenancy/configuration/draft.js';
import { checkDraftToken } from '../../tenancy/configuration/draft-link.js';
import { activeDocument, activeDocuments } from '../../tenancy/directory/active-documents.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { contentOf, readContent } from '../../tenancy/documents/content.js';
import { hostOf, type LiveHosts } from '../../tenancy/domains/live-hosts.js';
import type { CacheableJson } from '../server/cacheable-json.js';
import { EXAMPLE_VALUES, SHOWN } from '../server/example-values.js';
import { routesWith } from '../server/route.js';
import { testMarkOf } from './serve-tool.js';

/** What the handlers of a site's configuration and documents need. */
export interface SiteDeps {
  /** Connections in the role `consent_ledger_api`. */
  readonly db: Queryable;
  /** Guesses the region that a request comes from. */
  readonly detectRegion: DetectRegion;
  /** Knows the hosts that record with live keys. A page with a test key there must permit nothing optional. */
  readonly liveHosts: LiveHosts;
  /** Notes such pages, for the dashboard. */
  readonly keyUsage: Pick<KeyUsage, 'note'>;
  /** Sends what a browser may cache. */
  readonly texts: CacheableJson;
}

const route = routesWith<SiteDeps>();

/** Query of the routes that the public scanner also serves. */
const SiteQuery = LanguageQuery.extend(ScannerQuery.shape);
const ConfigQuery = SiteQuery.extend({
  key: z
    .string()
    .optional()
    .describe('API key, in place of the header: a page can then load the response ahead. Not a secret key.'),
  draft: z
    .string()
    .max(100)
    .optional()
    .describe(
      'Token of a link to the draft, from the dashboard: the draft is returned, never cached, and no consent can name it.',
    ),
});

/** Defaults of the routes that every visit to a page loads. */
const shared = {
  auth: 'site',
  tag: 'Site',
  headers: {
    ETag: 'Validator of the response. A request with it in `If-None-Match` gets 304 while it is current.',
    'Cache-Control':
      'A browser may keep the response for a minute. After 409 `CONFIG_OUTDATED`, read it again with `Cache-Control: no-cache`.',
  },
} as const;

/** Parts of the example responses. */
const SHOWN_DOCUMENT: JsonObject = {
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

/** The connection, the banner configuration, and the documents that consents can refer to. */
export const SITE_OPERATIONS = [
  route({
    auth: 'site',
    limit: 'plan',
    id: 'ping',
    path: '/tool/v1/ping',
    tag: 'Site',
    summary: 'Check the connection and the API key',
    description:
      'Returns the site and the scope of the key, and the time of the service, by which a client can correct its own.',
    query: ScannerQuery,
    response: PingResponse,
    errors: ['SITE_NOT_FOUND'],
    example: {
      response: { message: 'pong', data: { site_id: SHOWN.siteId, scope: 'read', time: SHOWN.createdAt } },
    },
    handle: async ({ apiKey, site }): Promise<PingResponse> => ({
      message: 'pong',
      data: { site_id: site.siteId, scope: apiKey?.scope ?? 'public', time: new Date().toISOString() },
    }),
  }),
  route({
    ...shared,
    id: 'getConfig',
    path: '/tool/v1/config',
    summary: 'Get the banner configuration, the attached documents and the detected region',
    description:
      'The region is a hint for the banner. It comes from the headers of a trusted proxy, else from an IP data set, and is null if it is unknown.',
    query: ConfigQuery,
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
          refusal_days: 365,
          banner: { title: 'Your choice', text: 'May we use cookies?' },
          labels: bannerLabels({}, 'en', labelsIn('en')),
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
          accounts: { person_space: null },
          region: { country: 'TR', region: null, compliance_framework: 'kvkk', signal_is_request: false },
        },
      },
    },
    handle: async ({ site, apiKey, query, request, reply }, { db, detectRegion, liveHosts, keyUsage, texts }) => {
      const wanted = wantedLanguages(query, request, site);
      if (query.draft !== undefined) {
        const data = await draftConfiguration(db, site, {
          token: query.draft,
          tags: wanted.tags,
          place: detectRegion(request),
        });
        reply.header('cache-control', 'no-store');
        return { data, ...testMarkOf(apiKey) } satisfies ConfigResponse;
      }
      const response = configResponse(site, wanted, detectRegion(request));
      if (apiKey?.mode !== 'test') return texts.send(request, reply, response);
      const { isLive, host } = await pageOf(liveHosts, site, request);
      if (isLive) keyUsage.note(apiKey.id, host ?? undefined);
      const data = configurationForTests(response.data, isLive);
      return texts.send(request, reply, { data, ...testMarkOf(apiKey) } satisfies ConfigResponse);
    },
  }),
  route({
    ...shared,
    id: 'getActiveDocuments',
    path: '/tool/v1/documents/active',
    summary: 'List the active documents of the site',
    description: 'Returns the active version of each document in the best language, without its content.',
    query: SiteQuery,
    response: ActiveDocumentsResponse,
    errors: ['SITE_NOT_FOUND'],
    example: { query: { language: 'en' }, response: { data: { documents: [SHOWN_DOCUMENT] } } },
    handle: async ({ site, apiKey, query, request, reply }, { texts }) => {
      const { tags, warned } = wantedLanguages(query, request, site);
      const data = { documents: [...activeDocuments(site, tags)], ...warned };
      return texts.send(request, reply, { data, ...testMarkOf(apiKey) } satisfies ActiveDocumentsResponse);
    },
  }),
  route({
    ...shared,
    id: 'getActiveDocument',
    path: '/tool/v1/documents/{slug}/active',
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
    handle: async ({ site, apiKey, params, query, request, reply }, { db, texts }) => {
      const { tags, warned } = wantedLanguages(query, request, site);
      const document = activeDocument(site, params.slug, tags);
      if (document === null) throw new ApiError('DOCUMENT_NOT_FOUND');
      const { media_type, content_sha256 } = document.version;
      const content = contentOf(media_type, await readContent(db, content_sha256));
      return texts.send(request, reply, {
        data: { ...document, content, ...warned },
        ...testMarkOf(apiKey),
      } satisfies ActiveDocumentResponse);
    },
  }),
];

function configResponse(site: SiteContext, wanted: WantedLanguages, place: DetectedPlace): ConfigResponse {
  if (site.config === null) throw new ApiError('CONFIG_OUTDATED', 'The site has no published configuration.');
  const { record, sha256 } = site.config;
  const language = chooseLanguage(record.languages, wanted.tags, record.default_language);
  const rule = ruleAt(record.rules, place);
  return {
    data: {
      site: { id: site.siteId, domain: record.domain },
      ...bannerInLanguage(record, language, record.default_language, labelsIn(language), rule),
      ...lawThere(record, place, rule),
      default_language: record.default_language,
      site_config_hash: sha256,
      validity_days: record.validity_days,
      ...(record.withdrawal_url !== undefined && { withdrawal_url: record.withdrawal_url }),
      // Without any signal, a page would load that script for nothing.
      ...(record.iab !== undefined && Object.keys(record.iab).length > 0 && { iab: record.iab }),
      ...(record.accounts !== undefined && { accounts: record.accounts }),
      documents: [...activeDocuments(site, [language])],
      ...wanted.warned,
    },
  };
}

/** What the configuration and the law say of a place. */
function lawThere(periods: Parameters<typeof refusalDays>[0], place: DetectedPlace, rule: SiteRule | null) {
  return {
    refusal_days: refusalDays(periods),
    ...(rule !== null && { rule_id: rule.id }),
    region: { ...place, signal_is_request: isSignalRequest(place, rule) },
  };
}

type Configuration = ConfigResponse['data'];

/**
 * The draft of a site, as its next version would be served. Its hash is that of no version, so that a consent that names
 * it is refused. Signals of IAB are left out, because other scripts hear them.
 * @throws ApiError VALIDATION_ERROR
 */
async function draftConfiguration(
  db: Queryable,
  site: SiteContext,
  { token, tags, place }: { readonly token: string; readonly tags: readonly string[]; readonly place: DetectedPlace },
): Promise<Configuration> {
  const refused = (message: string) =>
    new ApiError('VALIDATION_ERROR', undefined, { errors: [{ field: 'draft', message }] });
  const state = checkDraftToken(site.siteKey, token, Date.now());
  if (state === 'expired') throw refused('the link has expired; make a new one in the dashboard');
  if (state === 'foreign') throw refused('this is not a link to a draft of this site');
  const { draft, domain } = await readConfigDraft(db, site.siteId);
  const [first] = draft.languages;
  if (first === undefined) throw refused('the draft has no language yet');
  const content = contentOfDraft(draft);
  const main = draft.default_language ?? first;
  const language = chooseLanguage(draft.languages, tags, main);
  const { legal_name: name, contact } = draft.controller;
  const controller = { legal_name: name ?? '', contact: contact ?? '' };
  const rule = ruleAt(draft.rules, place);
  return {
    site: { id: site.siteId, domain },
    ...bannerInLanguage({ ...content, controller }, language, main, labelsIn(language), rule),
    ...lawThere(draft, place, rule),
    default_language: main,
    site_config_hash: sha256Hex(`draft\0${canonicalJson(content)}`),
    validity_days: draft.validity_days,
    ...(draft.accounts !== undefined && { accounts: draft.accounts }),
    documents: [...activeDocuments(site, [language])],
  };
}

/**
 * Replaces all optional categories. No stored choice has an answer for this one, so none applies, and a new choice
 * permits nothing else. Every version of the SDK obeys this.
 */
const NOTHING_OPTIONAL: Configuration['categories'][number] = {
  key: 'svc_test',
  required: false,
  title: 'Test',
  purpose: 'This page has a test key. Nothing optional is permitted here, whatever is chosen.',
  lawful_basis: 'consent',
  personal_data: [],
  recipients: [],
  retention_days: null,
  cookies: [],
};

/**
 * The configuration for a page with a test key. Its banner says "Test".
 * @param isLive whether visitors may use the page; if so, nothing optional can be permitted on it, because a site that
 * forgot a test key would collect no consent
 */
function configurationForTests(data: Configuration, isLive: boolean): Configuration {
  const { banner, labels, documents } = data;
  const policy = documents.find(({ kind }) => kind === 'cookie_policy');
  const title = `Test: ${banner.title ?? policy?.version.title ?? ''}`;
  const settings = labels.settings && { ...labels.settings, text: `Test: ${labels.settings.text}` };
  const marked = { ...data, banner: { ...banner, title }, labels: { ...labels, ...(settings && { settings }) } };
  if (!isLive) return marked;
  const { iab: _, service_switches: __, ...withoutSwitches } = marked;
  return { ...withoutSwitches, categories: [...data.categories.filter(({ required }) => required), NOTHING_OPTIONAL] };
}

/** The page of a request. */
interface RequestingPage {
  /** Whether real visitors may use it. Assumed if the browser hides its host. */
  readonly isLive: boolean;
  /** Null if it is not known. */
  readonly host: string | null;
}

/** @throws database errors */
async function pageOf(liveHosts: LiveHosts, site: SiteContext, request: FastifyRequest): Promise<RequestingPage> {
  const { origin, referer, 'sec-fetch-site': fetchSite } = request.headers;
  const host = hostOf(origin ?? referer ?? '');
  const isLive = host === null ? (origin ?? fetchSite) !== undefined : await liveHosts.isLive(site, host);
  return { isLive, host };
}

/** The languages that a request asks for. */
interface WantedLanguages {
  /** `language` of the query, then those of Accept-Language, the preferred one first. */
  readonly tags: readonly string[];
  /** For `data` of the response: a warning if `language` was understood differently from how it is written. */
  readonly warned: { readonly warnings?: FieldError[] };
}

function wantedLanguages(
  { language = '' }: { readonly language?: string | undefined },
  { headers }: Pick<FastifyRequest, 'headers'>,
  site: SiteContext,
): WantedLanguages {
  const message = language.trim() === '' ? null : problemOf(language, site.config?.record.languages ?? []);
  return {
    tags: [language, ...acceptedLanguages(headers['accept-language'])],
    warned: message === null ? {} : { warnings: [{ field: 'language', message }] },
  };
}

const MOST_SHOWN = 40;
const ADVICE = 'Write a language tag (BCP 47), for example en or pt-BR.';

function problemOf(text: string, available: readonly string[]): string | null {
  const locale = localeOf(text);
  // A site can have texts in a language that the JavaScript engine does not know.
  if (locale === undefined && matchLanguage(available, [text]) !== undefined) return null;
  const shown = JSON.stringify(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);
  if (locale === undefined)
    return `${shown} names no known language. Accept-Language and the default language were used. ${ADVICE}`;
  return isWellFormed(text) ? null : `${shown} was read as ${locale}. ${ADVICE}`;
}
