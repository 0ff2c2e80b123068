import * as z from 'zod';
import {
  AccountSettings,
  ConsentCategory,
  ConsentCookie,
  configProblems,
  Language,
  SiteConfigPublishedRecord,
  WithdrawalUrl,
} from '../../events/site-config.js';
import { Sha256Hex } from '../../evidence/primitives.js';
import { TimeZoneName } from '../../text/time-zone.js';
import { MAX_INTEGER, numberInUrl } from '../common.js';
import { PageQuery, SiteParams, Timestamp } from './common.js';
import { DraftCookie } from './cookies.js';
import { DraftRevision, ExpectedRevision } from './draft-revision.js';
import { Publication } from './publication.js';

const published = SiteConfigPublishedRecord.shape;

/**
 * Settings of the draft, except its lists. A setting that is null or missing has to be set before
 * the draft can be published.
 */
export const DraftSettings = z.strictObject({
  controller: z
    .strictObject({
      legal_name: published.controller.shape.legal_name.nullable().describe('Legal name of the controller.'),
      contact: published.controller.shape.contact.nullable().describe('How people reach the controller.'),
    })
    .describe('Who is responsible for the personal data.'),
  default_language: Language.nullable().describe(
    'Language (BCP 47) for visitors whose language the site does not have.',
  ),
  languages: z.array(Language).max(50).describe('Languages (BCP 47) of the site.'),
  /** Time after which a consent expires, in days, or null if it never does. */
  validity_days: published.validity_days.describe('Days for which a consent is valid, or null for no limit.'),
  refusal_days: published.refusal_days.describe('Days until a refusal ends; null: never; absent: at least 180.'),
  rules: published.rules.describe('What applies where.'),
  appearance: published.appearance,
  iab: published.iab,
  service_switches: published.service_switches.describe('Whether visitors accept services one by one; absent: no.'),
  accounts: published.accounts.describe('Choices of accounts; absent: each choice is that of a device.'),
  time_zone: published.time_zone,
  withdrawal_url: published.withdrawal_url,
});

/** Texts of the banner, by language and by a name of the site's choice. */
export const Banner = published.banner;
/** How consent is withdrawn, by language. */
export const Withdrawal = published.withdrawal;

/** Draft of a site's next published configuration. */
export const SiteConfigDraft = DraftSettings.extend({
  banner: Banner.describe('Texts of the banner.'),
  withdrawal: Withdrawal,
  categories: z.array(ConsentCategory).max(100).describe('The categories of the banner, in their order.'),
  cookies: z.array(DraftCookie).max(500).describe('The cookies that the site declares.'),
});
export type SiteConfigDraft = z.infer<typeof SiteConfigDraft>;

/** Something that keeps a draft from being published. */
export const DraftProblem = z
  .object({
    field: z.string().describe('Path of the member, for example `cookies.0.name`.'),
    message: z.string().describe('The error in words, and what to do next.'),
  })
  .meta({ id: 'DraftProblem' });
export type DraftProblem = z.infer<typeof DraftProblem>;

export const ConfigurationDraft = SiteConfigDraft.extend({
  ...DraftRevision.shape,
  changed_at: Timestamp.nullable().describe('When the draft was last changed, or null for never.'),
  problems: z.array(DraftProblem).describe('Why the draft cannot be published yet.'),
  has_changes: z.boolean().describe('Whether the draft differs from the version in force.'),
  in_force: z
    .object({
      number: z.int().describe('Number of the version, in the order of publication.'),
      sha256: Sha256Hex.describe('SHA-256, in hex.'),
    })
    .nullable()
    .describe('The version in force, or null if there is none yet.'),
}).meta({ id: 'ConfigurationDraft' });
export type ConfigurationDraft = z.infer<typeof ConfigurationDraft>;

/** Choices of accounts, as a request states them. */
const WrittenAccounts = AccountSettings.extend({ person_space: AccountSettings.shape.person_space.default(null) }).meta(
  {
    id: 'WrittenAccountSettings',
  },
);

/** The whole draft; cookies keep their ids if name and provider are the same as before. */
export const ReplaceConfigurationRequest = SiteConfigDraft.extend({
  cookies: z.array(ConsentCookie).max(500).describe('The cookies that the site declares.'),
  accounts: WrittenAccounts.exactOptional().describe('Choices of accounts; absent: each choice is that of a device.'),
  ...DraftRevision.shape,
}).superRefine(({ categories, cookies }, context) => {
  for (const problem of configProblems(categories, cookies)) context.addIssue({ code: 'custom', ...problem });
});

export const ChangeConfigurationRequest = DraftSettings.extend({
  controller: DraftSettings.shape.controller.partial().describe('Who is responsible for the personal data.'),
  accounts: WrittenAccounts.nullable().describe('Choices of accounts; null: each choice is that of a device.'),
  time_zone: TimeZoneName.nullable().describe('Time zone (IANA) for times beside UTC, or null for none.'),
  refusal_days: z
    .int()
    .min(0)
    .max(36_500)
    .nullable()
    .describe('Days until a refusal ends; null: never; 0: `validity_days`, at least 180.'),
  withdrawal_url: WithdrawalUrl.nullable().describe(
    'Where visitors change or withdraw their choice, on the domain of the site, or null for none.',
  ),
})
  .partial()
  .extend(DraftRevision.shape);

export const PublishConfigurationRequest = DraftRevision.extend({
  version: z
    .int()
    .min(1)
    .exactOptional()
    .describe('Number of an earlier version to publish again instead of the draft.'),
}).strict();

/** A link that shows the draft on the site. */
export const DraftLink = z
  .object({
    url: z.string().describe('Address of the site with the token in its fragment.'),
    expires_at: Timestamp.describe('When the link stops to work.'),
  })
  .meta({ id: 'DraftLink' });

/** The texts of the banner in one language. */
export const BannerTexts = z
  .object({
    language: Language.describe('Language (BCP 47).'),
    texts: z.record(z.string(), z.string()).describe('Texts of the banner by name.'),
    withdrawal: z.string().nullable().describe('How consent is withdrawn, or null if not written yet.'),
  })
  .meta({ id: 'BannerTexts' });
export type BannerTexts = z.infer<typeof BannerTexts>;

export const BannerTextsParams = SiteParams.extend({ language: Language.describe('Language (BCP 47).') });

export const PutBannerTextsRequest = z.strictObject({
  texts: z
    .record(z.string().regex(/^[A-Za-z0-9_.-]{1,50}$/), z.string().max(10_000))
    .describe('Texts of the banner by name.'),
  withdrawal: z.string().max(10_000).nullable().describe('How consent is withdrawn, or null if not written yet.'),
  ...ExpectedRevision.shape,
});

export const BannerTextsResponse = z
  .object({ data: BannerTexts, ...DraftRevision.shape })
  .meta({ id: 'BannerTextsResponse' });

/** A configuration that was published. */
export const ConfigurationVersion = z
  .object({
    number: z.int().describe('Number of the version, from 1 without gaps.'),
    sha256: Sha256Hex.describe('SHA-256 of `record`: the `site_config_hash` of consents.'),
    published_at: Timestamp.describe('When it was published.'),
    is_in_force: z.boolean().describe('Whether new consents refer to it.'),
    publication: Publication,
  })
  .meta({ id: 'ConfigurationVersion' });
export type ConfigurationVersion = z.infer<typeof ConfigurationVersion>;

export const ConfigurationVersionWithRecord = ConfigurationVersion.extend({
  record: z.string().describe('The exact canonical text of which `sha256` is the hash.'),
}).meta({ id: 'ConfigurationVersionWithRecord' });

export type ConfigurationVersionWithRecord = z.infer<typeof ConfigurationVersionWithRecord>;

export const ConfigurationVersionsQuery = PageQuery;
export const ConfigurationVersionParams = SiteParams.extend({
  number: numberInUrl(1, MAX_INTEGER, `must be a whole number from 1 to ${MAX_INTEGER}`).describe(
    'Number of the version, in the order of publication.',
  ),
});
