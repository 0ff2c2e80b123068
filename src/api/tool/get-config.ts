import type { ConfigResponse, DetectedRegion } from '../../../schemas/api/config.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { bannerInLanguage } from '../../../schemas/banner/banner-in-language.js';
import { chooseLanguage } from '../../../schemas/language/choose-language.js';
import type { DetectRegion } from '../../platform/regions/detect-region.js';
import type { KeyUsage } from '../../tenancy/api-keys/key-usage.js';
import { activeDocuments } from '../../tenancy/directory/active-documents.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import type { LiveHosts } from '../../tenancy/domains/live-hosts.js';
import { sendCacheableJson } from '../server/send-document.js';
import { getConfig } from './operations/reading.js';
import { readsPublicly, type ToolRoute, testMarkOf } from './route.js';
import { configurationForTests, pageOf } from './test-page.js';
import { type WantedLanguages, wantedLanguages } from './wanted-languages.js';

export interface ConfigRoutesOptions {
  /** Guesses where a request comes from. */
  readonly detectRegion: DetectRegion;
  /** Knows where a page with a test key must permit nothing optional. */
  readonly liveHosts: LiveHosts;
  /** Learns of such pages, for the dashboard. */
  readonly keyUsage: Pick<KeyUsage, 'note'>;
}

/** Serves the banner configuration and the documents that consents can refer to. */
export function configRoutes({ detectRegion, liveHosts, keyUsage }: ConfigRoutesOptions): readonly ToolRoute[] {
  return [
    readsPublicly(getConfig, async ({ site, apiKey, query, request, reply }) => {
      const wanted = wantedLanguages(query, request, site);
      const response = configResponse(site, wanted, detectRegion(request));
      if (apiKey?.mode !== 'test') return sendCacheableJson(request, reply, response);
      const { isLive, host } = await pageOf(liveHosts, site, request);
      if (isLive) keyUsage.note(apiKey.id, host ?? undefined);
      const data = configurationForTests(response.data, isLive);
      return sendCacheableJson(request, reply, { data, ...testMarkOf(apiKey) } satisfies ConfigResponse);
    }),
  ];
}

function configResponse(site: SiteContext, wanted: WantedLanguages, region: DetectedRegion): ConfigResponse {
  if (site.config === null) throw new ApiError('CONFIG_OUTDATED', 'The site has no published configuration.');
  const { record, sha256 } = site.config;
  const language = chooseLanguage(record.languages, wanted.tags, record.default_language);
  return {
    data: {
      site: { id: site.siteId, domain: record.domain },
      ...bannerInLanguage(record, language, record.default_language),
      default_language: record.default_language,
      site_config_hash: sha256,
      validity_days: record.validity_days,
      // A page would load the file for signals that were all turned off.
      ...(record.iab !== undefined && Object.keys(record.iab).length > 0 && { iab: record.iab }),
      documents: [...activeDocuments(site, [language])],
      region,
      ...wanted.warned,
    },
  };
}
