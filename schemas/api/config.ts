import { z } from 'zod';
import { COMPLIANCE_FRAMEWORKS } from '../events/consent-recorded.js';
import { ConsentCategory, ConsentCookie, SiteConfigPublishedRecord } from '../events/site-config.js';
import { Sha256Hex, Uuid } from '../evidence/primitives.js';
import { BANNER_CONTROLS } from '../text/banner-labels.js';
import { DocumentSummary, LanguageWarnings } from './common.js';

/** A cookie as the banner shows it, below its category. */
export const BannerCookie = ConsentCookie.omit({ category: true })
  .extend({ purpose: z.string() })
  .meta({ id: 'BannerCookie' });

/** A category as the banner shows it: its texts in one language, and the cookies that it covers. */
export const BannerCategory = ConsentCategory.extend({
  title: z.string(),
  purpose: z.string(),
  cookies: z.array(BannerCookie),
}).meta({ id: 'BannerCategory' });

/** Region from which the request seems to come, and the law that it suggests. Null: not known. */
export const DetectedRegion = z
  .object({
    country: z.string().nullable(),
    region: z.string().nullable(),
    compliance_framework: z.enum(COMPLIANCE_FRAMEWORKS).nullable(),
  })
  .meta({ id: 'DetectedRegion' });
export type DetectedRegion = z.infer<typeof DetectedRegion>;

/** Text of a control of the banner, and the language in which it is. */
export const BannerLabel = z.object({ text: z.string(), language: z.string() }).meta({ id: 'BannerLabel' });

/** GET /tool/v1/config */
export const ConfigResponse = z
  .object({
    data: z.object({
      site: z.object({ id: Uuid, domain: z.string() }),
      language: z.string().describe('Language of the texts below.'),
      default_language: z.string(),
      languages: z.array(z.string()),
      direction: z.enum(['ltr', 'rtl']).describe('Direction in which `language` is written.'),
      site_config_hash: Sha256Hex.describe(
        'SHA-256 of the published configuration, which consents given now refer to.',
      ),
      controller: SiteConfigPublishedRecord.shape.controller,
      validity_days: z.int().nullable(),
      banner: z.record(z.string(), z.string()),
      labels: z
        .partialRecord(z.enum(BANNER_CONTROLS), BannerLabel)
        .describe(
          'Texts of the controls: those of `banner`, else those that the service has for the language, else English.',
        ),
      withdrawal: z.string().nullable(),
      categories: z.array(BannerCategory),
      documents: z.array(DocumentSummary),
      region: DetectedRegion,
      warnings: LanguageWarnings,
    }),
  })
  .meta({ id: 'ConfigResponse' });
export type ConfigResponse = z.infer<typeof ConfigResponse>;
