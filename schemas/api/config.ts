import * as z from 'zod';
import { Appearance } from '../banner/appearance.js';
import { BANNER_CONTROLS, BANNER_NOTICES } from '../banner/language-texts.js';
import { COMPLIANCE_FRAMEWORKS } from '../events/consent-recorded.js';
import {
  AccountSettings,
  ConsentCategory,
  ConsentCookie,
  SiteConfigPublishedRecord,
  SiteRule,
} from '../events/site-config.js';
import { Sha256Hex, Uuid } from '../evidence/primitives.js';
import { IabSettings } from '../iab/iab-settings.js';
import { DocumentSummary, LanguageWarnings } from './common.js';
import { TEST_MEMBER } from './test-mark.js';

/** A cookie as the banner shows it, below its category. */
export const BannerCookie = ConsentCookie.omit({ category: true })
  .extend({ purpose: z.string().describe('What the processing is for.') })
  .meta({ id: 'BannerCookie' });

/** A category as the banner shows it: its texts in one language, and the cookies that it covers. */
export const BannerCategory = ConsentCategory.extend({
  title: z.string().describe('Title that visitors read.'),
  purpose: z.string().describe('What the processing is for.'),
  cookies: z.array(BannerCookie).describe('The cookies that the site declares.'),
  rule: z
    .enum(['opt_out', 'exempt'])
    .optional()
    .describe(
      '`opt_out`: runs until the person opts out; `exempt`: runs until the person objects; absent: waits for consent.',
    ),
  ground: z.string().optional().describe('Why an `exempt` category runs without a choice.'),
}).meta({ id: 'BannerCategory' });

/** Place from which the request seems to come, and the law that it suggests. Null if it is not known. */
const DetectedPlace = z.object({
  country: z.string().nullable().describe('Country (ISO 3166-1 alpha-2); null: not known.'),
  region: z.string().nullable().describe('Region of the country, for example a US state; null: not known.'),
  compliance_framework: z
    .enum(COMPLIANCE_FRAMEWORKS)
    .nullable()
    .describe('Law under which the person was asked, or null if not known.'),
});
export type DetectedPlace = z.infer<typeof DetectedPlace>;

/** That place, and what the signal of a browser means there. */
export const DetectedRegion = DetectedPlace.extend({
  signal_is_request: z
    .boolean()
    .describe('Whether the signal of a browser (Global Privacy Control) is itself a request to opt out.'),
}).meta({ id: 'DetectedRegion' });

/** Text of a control of the banner, and the language in which it is. */
export const BannerLabel = z
  .object({ text: z.string().describe('The text.'), language: z.string().describe('Language (BCP 47) of the text.') })
  .meta({ id: 'BannerLabel' });

/** GET /tool/v1/config */
export const ConfigResponse = z
  .object({
    data: z
      .object({
        site: z
          .object({ id: Uuid.describe('UUID of the object.'), domain: z.string().describe('Domain of the site.') })
          .describe('The site of the API key.'),
        language: z.string().describe('Language of the texts below.'),
        default_language: z.string().describe('Language (BCP 47) for visitors whose language the site does not have.'),
        languages: z.array(z.string()).describe('Languages (BCP 47) of the site.'),
        direction: z.enum(['ltr', 'rtl']).describe('Direction in which `language` is written.'),
        site_config_hash: Sha256Hex.describe(
          'SHA-256 of the published configuration, which consents given now refer to.',
        ),
        controller: SiteConfigPublishedRecord.shape.controller.describe('Who is responsible for the personal data.'),
        validity_days: z.int().nullable().describe('Days for which a consent is valid, or null for no limit.'),
        refusal_days: z
          .int()
          .nullable()
          .describe('Days after which a person who refused is asked again, or null for never.'),
        rule_id: SiteRule.shape.id
          .optional()
          .describe('The rule of the site for the place of the request, which a consent names; absent: none.'),
        banner: z.record(z.string(), z.string()).describe('Texts of the banner.'),
        labels: z
          .partialRecord(z.enum([...BANNER_CONTROLS, ...BANNER_NOTICES]), BannerLabel)
          .describe(
            'Texts of the controls: those of `banner`, else those that the service has for the language, else English; and of the notices about a signal, which are those of the service.',
          ),
        withdrawal: z.string().nullable().describe('How consent is withdrawn, or null if not written yet.'),
        withdrawal_url: SiteConfigPublishedRecord.shape.withdrawal_url,
        categories: z.array(BannerCategory).describe('The categories of the banner, in their order.'),
        service_switches: SiteConfigPublishedRecord.shape.service_switches.describe(
          'Whether visitors can accept each service by itself; absent: no.',
        ),
        documents: z.array(DocumentSummary).describe('The active version of each document.'),
        appearance: Appearance.nullable().describe('Layout and theme of the banner; null: those of the SDK.'),
        iab: IabSettings.optional().describe('Signals of IAB that the site speaks; absent: none.'),
        accounts: AccountSettings.optional().describe(
          'Choices of accounts hold on all devices of a person for whom the backend of the site vouches; absent: each choice is that of a device.',
        ),
        region: DetectedRegion,
        warnings: LanguageWarnings,
      })
      .describe('The result.'),
    ...TEST_MEMBER,
  })
  .meta({ id: 'ConfigResponse' });
export type ConfigResponse = z.infer<typeof ConfigResponse>;
