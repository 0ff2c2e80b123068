import * as z from 'zod';
import { Appearance } from '../banner/appearance.js';
import { Instant, PlainName, Uuid } from '../evidence/primitives.js';
import { IabSettings } from '../iab/iab-settings.js';
import { TimeZoneName } from '../text/time-zone.js';
import { isOnDomain, WITHDRAWAL_URL } from '../text/withdrawal-url.js';
import { COMPLIANCE_FRAMEWORKS } from './consent-recorded.js';

export const SITE_CONFIG_PUBLISHED = 'SiteConfigPublished.v1';

export const Language = z
  .string()
  .regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/)
  .max(35);
/** A text in several languages. */
export const ByLanguage = z.record(Language, z.string().max(10_000)).meta({ id: 'TextByLanguage' });

const Key = z
  .string()
  .regex(/^[a-z0-9_-]{1,50}$/, 'must be 1 to 50 lower-case letters, digits, - and _, for example analytics')
  .meta({ id: 'Key', description: 'Key of a category, service or rule, for example `analytics`.' });

/** A service, or vendor, that gets data under a category. Visitors read its name, and may have a switch for it. */
export const ConsentService = z
  .strictObject({
    key: Key,
    name: z.string().min(1).max(200).describe('Name that visitors read.'),
    recipient: z.string().min(1).max(200).describe('Who receives the data.'),
    policy_url: z
      .string()
      .regex(/^https:\/\/[!-~]{1,500}$/, 'must be an https URL')
      .nullable()
      .describe('Privacy policy; null: none.'),
  })
  .meta({ id: 'Service' });
export type ConsentService = z.infer<typeof ConsentService>;

/**
 * A category of processing that a person may accept or reject, with what ISO/IEC TS 27560 asks of a
 * consent record.
 */
export const ConsentCategory = z
  .strictObject({
    key: Key,
    required: z.boolean().describe('Whether the site needs it, so that visitors cannot refuse it.'),
    title: ByLanguage,
    purpose: ByLanguage,
    lawful_basis: z
      .enum(['consent', 'contract', 'legal_obligation', 'legitimate_interest'])
      .describe('Why the processing is lawful.'),
    personal_data: z.array(z.string().max(200)).max(50).describe('Kinds of personal data that are processed.'),
    recipients: z.array(z.string().max(200)).max(50).describe('Who receives the data.'),
    retention_days: z.int().min(1).nullable().describe('Days for which the data are kept, or null for no limit.'),
    services: z.array(ConsentService).max(100).exactOptional().describe('Services by name.'),
  })
  .meta({ id: 'Category' });
export type ConsentCategory = z.infer<typeof ConsentCategory>;

/**
 * A cookie, or something else that is stored in a browser, which a category covers. Name and provider together identify
 * it.
 */
export const ConsentCookie = z
  .strictObject({
    /** Name in the browser; `*` matches any characters, e.g. `_ga_*`. */
    name: z
      .string()
      .regex(/^[\x21-\x7e]{1,200}$/, 'must be 1 to 200 visible ASCII characters')
      .describe('Name of the cookie.'),
    /** Company or service that sets and reads the cookie. */
    provider: z.string().min(1).max(300).describe('Who sets the cookie.'),
    /** Key of the category that covers it. */
    category: Key,
    /** Key of a service of that category. */
    service: Key.exactOptional(),
    party: z.enum(['first', 'third']).describe('`first`: set by the site itself; `third`: set by another host.'),
    /** How long it is stored, in seconds, or null if it is stored until the browser is closed. */
    duration_seconds: z
      .int()
      .min(1)
      .nullable()
      .describe('How long the browser keeps it, in seconds, or null for until it is closed.'),
    purpose: ByLanguage,
  })
  .meta({ id: 'Cookie' });
export type ConsentCookie = z.infer<typeof ConsentCookie>;

/** Address at which visitors change or withdraw their choice. */
export const WithdrawalUrl = z
  .string()
  .regex(
    WITHDRAWAL_URL,
    'must be https:// and a host in lower case without user or port, for example https://shop.example/choices',
  )
  .max(500);

/** Why a category may run without a choice. */
export const RULE_EXCEPTIONS = ['own_statistics', 'appearance'] as const;

/** What a rule says of one category. */
export const CategoryRule = z
  .discriminatedUnion('rule', [
    z.strictObject({ rule: z.literal('opt_in').describe('Waits for consent.') }).meta({ id: 'OptInRule' }),
    z.strictObject({ rule: z.literal('opt_out').describe('Runs until an opt-out.') }).meta({ id: 'OptOutRule' }),
    z
      .strictObject({
        rule: z.literal('exempt').describe('Runs until an objection.'),
        exception: z
          .enum(RULE_EXCEPTIONS)
          .describe('`own_statistics`: for the site alone; `appearance`: as the person prefers.'),
        ground: ByLanguage.describe('Why, in words that visitors read.'),
        processor: z.string().min(1).max(200).exactOptional().describe('The only recipient of the data.'),
      })
      .meta({ id: 'ExemptRule' }),
  ])
  .meta({ id: 'CategoryRule' });
export type CategoryRule = z.infer<typeof CategoryRule>;

/** What applies in some places. */
export const SiteRule = z
  .strictObject({
    id: Key.describe('Name, which records state.'),
    places: z
      .array(
        z
          .string()
          .regex(/^[A-Z]{2}(?:-[A-Z0-9]{1,3})?$/, 'must be a country or a part of one, for example GB or US-CA'),
      )
      .max(300)
      .exactOptional()
      .describe('Places (ISO 3166).'),
    frameworks: z
      .array(z.enum(COMPLIANCE_FRAMEWORKS).exclude(['none']))
      .max(COMPLIANCE_FRAMEWORKS.length)
      .exactOptional()
      .describe('Laws, for their places.'),
    categories: z.record(Key, CategoryRule).describe('By the key of the category; others wait for consent.'),
  })
  .meta({ id: 'SiteRule' });
export type SiteRule = z.infer<typeof SiteRule>;

/** Choices of accounts: those of people for whom the site's backend vouches hold on all their devices. */
export const AccountSettings = z
  .strictObject({
    person_space: PlainName.max(80)
      .nullable()
      .describe('Sites of the tenant with the same name share the choices of accounts; visitors read it. Null: none.'),
  })
  .meta({ id: 'AccountSettings' });
export type AccountSettings = z.infer<typeof AccountSettings>;

/** Published settings of a site, with its controller. `site_config_hash` of a record is over its JCS text. */
export const SiteConfigPublishedRecord = z
  .strictObject({
    v: z.literal(1),
    event_id: Uuid,
    site_id: Uuid,
    created_at: Instant,
    number: z.int().min(1),
    domain: z.string().min(1).max(253),
    controller: z.strictObject({
      legal_name: z.string().min(1).max(300).describe('Legal name of the controller.'),
      contact: z.string().min(1).max(500).describe('How people reach the controller.'),
    }),
    default_language: Language,
    languages: z.array(Language).min(1).max(50),
    /** Time after which a consent expires, in days, or null if it never does. */
    validity_days: z.int().min(1).max(36_500).nullable(),
    /** Time for which a person who refused is not asked again, in days; null: never asked again. */
    refusal_days: z.int().min(1).max(36_500).nullable().exactOptional(),
    /** What applies where: the first rule that matches a place. If there is none, everything optional waits for consent. */
    rules: z.array(SiteRule).max(50).exactOptional(),
    banner: z.record(Language, z.record(z.string().max(50), z.string().max(10_000))),
    /** How consent is withdrawn, in each language. */
    withdrawal: ByLanguage,
    /** On `domain` or below it. */
    withdrawal_url: WithdrawalUrl.exactOptional().describe('Where visitors change or withdraw their choice.'),
    categories: z.array(ConsentCategory).max(100),
    /** Whether visitors can accept each service by itself. If absent, they cannot. */
    service_switches: z.boolean().exactOptional(),
    cookies: z.array(ConsentCookie).max(500),
    /** How the banner looks. If absent, the default of the browser SDK applies. */
    appearance: Appearance.exactOptional(),
    /** Signals of IAB that the banner gives to advertisers. If absent, it gives none. */
    iab: IabSettings.exactOptional(),
    /** If absent, every choice is that of a device. */
    accounts: AccountSettings.exactOptional(),
    /** Time zone in which times are shown beside UTC. If absent, or unknown to a reader, UTC stands alone. */
    time_zone: TimeZoneName.exactOptional(),
  })
  .superRefine(({ categories, cookies, rules = [], domain, withdrawal_url: url }, context) => {
    if (url !== undefined && !isOnDomain(url, domain))
      context.addIssue({ code: 'custom', path: ['withdrawal_url'], message: `must be on ${domain}` });
    for (const { path, message } of [...configProblems(categories, cookies), ...rulePlaceProblems(rules)])
      context.addIssue({ code: 'custom', path, message });
  });
export type SiteConfigPublishedRecord = z.infer<typeof SiteConfigPublishedRecord>;

/** What a configuration says about services. */
export type ServiceConfiguration = Pick<SiteConfigPublishedRecord, 'categories' | 'service_switches'>;

/** Keys of the services of a category. */
export function serviceKeys({ services = [] }: Pick<ConsentCategory, 'services'>): readonly string[] {
  return services.map(({ key }) => key);
}

/** Keys of the services that visitors of a site can decide on, in the order of the configuration. */
export function decidableServices({
  categories,
  service_switches: hasSwitches,
}: ServiceConfiguration): readonly string[] {
  return hasSwitches === true ? categories.flatMap(serviceKeys) : [];
}

/** A problem of a configuration, and its path. */
export interface ConfigProblem {
  readonly path: (string | number)[];
  readonly message: string;
}

/** What `configProblems` reads of a category. */
type NamedCategory = Pick<ConsentCategory, 'key' | 'services'>;

/**
 * The problems of categories, their services and cookies together: keys and cookies that occur twice, and cookies of a
 * category or service that is not there. A service has the key of no category, so that one name means one thing.
 */
export function configProblems(
  categories: readonly NamedCategory[],
  cookies: readonly Pick<ConsentCookie, 'name' | 'provider' | 'category' | 'service'>[],
): readonly ConfigProblem[] {
  return [...keyProblems(categories), ...cookieProblems(categories, cookies)];
}

/** The rules that a record could not name, because their id is not their own, and those for no place. */
export function* rulePlaceProblems(
  rules: readonly Pick<SiteRule, 'id' | 'places' | 'frameworks'>[],
): Generator<ConfigProblem> {
  const ids = new Set<string>();
  for (const [index, { id, places = [], frameworks = [] }] of rules.entries()) {
    if (ids.has(id)) yield { path: ['rules', index, 'id'], message: `there is another rule ${id}` };
    ids.add(id);
    if (places.length + frameworks.length > 0) continue;
    const message = 'must name a place or a law; without a rule, everything optional waits for consent';
    yield { path: ['rules', index, 'places'], message };
  }
}

function* keyProblems(categories: readonly NamedCategory[]): Generator<ConfigProblem> {
  const keys = new Set<string>();
  for (const [index, { key }] of categories.entries()) {
    if (keys.has(key)) yield { path: ['categories', index, 'key'], message: `the category ${key} occurs twice` };
    keys.add(key);
  }
  for (const [index, { services = [] }] of categories.entries()) {
    for (const [at, { key }] of services.entries()) {
      const path = ['categories', index, 'services', at, 'key'];
      if (keys.has(key)) yield { path, message: `there is another service or category ${key}` };
      keys.add(key);
    }
  }
}

function* cookieProblems(
  categories: readonly NamedCategory[],
  cookies: readonly Pick<ConsentCookie, 'name' | 'provider' | 'category' | 'service'>[],
): Generator<ConfigProblem> {
  const byKey = new Map(categories.map((category) => [category.key, category]));
  const known = new Set<string>();
  for (const [index, { name, provider, category: key, service }] of cookies.entries()) {
    const identity = JSON.stringify([name, provider]);
    if (known.has(identity))
      yield { path: ['cookies', index, 'name'], message: `the cookie ${name} of ${provider} occurs twice` };
    known.add(identity);
    const category = byKey.get(key);
    if (category === undefined) yield { path: ['cookies', index, 'category'], message: `there is no category ${key}` };
    else if (service !== undefined && !category.services?.some((one) => one.key === service))
      yield { path: ['cookies', index, 'service'], message: `the category ${key} has no service ${service}` };
  }
}
