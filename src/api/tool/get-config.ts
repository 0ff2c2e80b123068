import type { FastifyInstance } from 'fastify';
import type { ConfigResponse, DetectedRegion } from '../../../schemas/api/config.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { DetectRegion } from '../../platform/regions/detect-region.js';
import { activeDocuments } from '../../tenancy/directory/active-documents.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { chooseLanguage } from '../../tenancy/documents/language.js';
import type { ToolGuards } from '../guards/tool-guard.js';
import { callerOf } from '../server/caller.js';
import { wantedLanguages } from './wanted-languages.js';

/** GET /tool/v1/config: what the banner shows, and the documents that consents may name. */
export function getConfig(tool: FastifyInstance, guards: ToolGuards, detectRegion: DetectRegion): void {
  tool.get('/config', { onRequest: guards.read }, (request, reply) => {
    reply.send(configResponse(callerOf(request).site, wantedLanguages(request), detectRegion(request)));
  });
}

function configResponse(site: SiteContext, wanted: readonly string[], region: DetectedRegion): ConfigResponse {
  if (site.config === null) throw new ApiError('CONFIG_OUTDATED', 'The site has no published configuration.');
  const { record, sha256 } = site.config;
  const language = chooseLanguage(record.languages, wanted, record.default_language);
  const inLanguage = (texts: Readonly<Record<string, string>>): string =>
    texts[language] ?? texts[record.default_language] ?? '';
  return {
    data: {
      site: { id: site.siteId, domain: record.domain },
      language,
      default_language: record.default_language,
      languages: record.languages,
      site_config_hash: sha256,
      controller: record.controller,
      validity_days: record.validity_days,
      banner: record.banner[language] ?? record.banner[record.default_language] ?? {},
      withdrawal: inLanguage(record.withdrawal),
      categories: record.categories.map((category) => ({
        ...category,
        title: inLanguage(category.title),
        purpose: inLanguage(category.purpose),
        cookies: record.cookies
          .filter((cookie) => cookie.category === category.key)
          .map(({ category: _, ...cookie }) => ({ ...cookie, purpose: inLanguage(cookie.purpose) })),
      })),
      documents: [...activeDocuments(site, [language])],
      region,
    },
  };
}
