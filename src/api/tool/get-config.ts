import type { ConfigResponse, DetectedRegion } from '../../../schemas/api/config.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { bannerInLanguage } from '../../../schemas/banner/banner-in-language.js';
import { chooseLanguage } from '../../../schemas/language/choose-language.js';
import type { DetectRegion } from '../../platform/regions/detect-region.js';
import { activeDocuments } from '../../tenancy/directory/active-documents.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { sendCacheableJson } from '../server/send-document.js';
import { getConfig } from './operations/reading.js';
import { readsPublicly, type ToolRoute } from './route.js';
import { type WantedLanguages, wantedLanguages } from './wanted-languages.js';

/**
 * Serves the banner configuration and the documents that consents can refer to.
 * @param detectRegion guesses where a request comes from
 */
export function configRoutes(detectRegion: DetectRegion): readonly ToolRoute[] {
  return [
    readsPublicly(getConfig, async ({ site, query, request, reply }) => {
      const wanted = wantedLanguages(query, request, site);
      return sendCacheableJson(request, reply, configResponse(site, wanted, detectRegion(request)));
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
