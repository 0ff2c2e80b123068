import type { SiteRule } from '../../../../schemas/events/site-config.js';
import { DEFAULT_APPEARANCE } from '../../../../sdk/banner/default-appearance.js';
import type { ConfigurationDraft } from '../../api/types.js';
import type { Formats } from '../../i18n/formats.js';
import type { Messages } from '../../i18n/messages.js';
import type { PublishedConfiguration } from '../consents/published-configuration.js';
import { lifetimeOf } from './lifetime.js';
import { decidedText, whereOf } from './rule-words.js';
import type { BannerSection } from './sections.js';

/** A configuration, published or not. Settings that a person can leave open are null. */
export type ComparedConfiguration = Omit<PublishedConfiguration, 'controller' | 'default_language' | 'cookies'> &
  Pick<ConfigurationDraft, 'controller' | 'default_language'> & {
    readonly cookies: readonly Omit<ConfigurationDraft['cookies'][number], 'id'>[];
    readonly validity_days?: number | null;
    readonly refusal_days?: number | null;
    readonly rules?: readonly SiteRule[];
    readonly iab?: unknown;
    readonly accounts?: { readonly person_space: string | null };
    readonly time_zone?: string;
    readonly withdrawal_url?: string;
    /** The domain that a publication names. */
    readonly domain?: string;
  };

/** The words in which values are named. */
export interface DifferenceWords {
  readonly banner: Messages['banner'];
  readonly common: Pick<Messages['common'], 'yes' | 'no' | 'never'>;
  readonly rules: Messages['rules'];
  /** Names of laws. */
  readonly laws: Readonly<Record<string, string>>;
  readonly formats: Pick<Formats, 'languageName' | 'number' | 'quantity' | 'list' | 'locale'>;
}

/** A value of a configuration, in words. */
interface Entry {
  /** The same in every language of the dashboard. */
  readonly key: string;
  readonly section: BannerSection;
  readonly label: string;
  readonly text: string;
  /** Language of the text, if it is one that visitors read. */
  readonly language?: string;
  /** The category or cookie that it belongs to: one that is new or gone is one change. */
  readonly item?: string;
}

/** What differs between two configurations. */
export interface Change extends Pick<Entry, 'key' | 'section' | 'label' | 'language'> {
  /** Null: was not there. */
  readonly before: string | null;
  /** Null: is no longer there. */
  readonly after: string | null;
}

const ORDERS: readonly string[] = ['order.categories', 'order.rules'];

/**
 * Compares two configurations value by value, in the order of the page. A category or cookie that only one of them has is
 * one change, with its name.
 * @param before null: nothing was published
 */
export function configurationDifference(
  before: ComparedConfiguration | null,
  after: ComparedConfiguration,
  words: DifferenceWords,
): readonly Change[] {
  const [old, now] = [byKey(before === null ? [] : entriesOf(before, words)), byKey(entriesOf(after, words))];
  const [oldItems, nowItems] = [itemsIn(old), itemsIn(now)];
  const changes: Change[] = [];
  for (const key of new Set([...old.keys(), ...now.keys()])) {
    const [a, b] = [old.get(key), now.get(key)];
    const entry = b ?? a;
    if (entry === undefined || a?.text === b?.text) continue;
    const { item, section, label, language } = entry;
    // The line of a whole item stands for its values where one side lacks it, and they stand for it elsewhere.
    if (item !== undefined && (key === item) === (oldItems.has(item) && nowItems.has(item))) continue;
    // That a language is gone says the same of each of its texts.
    if (language !== undefined && !after.languages.includes(language)) continue;
    // An order says nothing new where something was added or taken out.
    if (ORDERS.includes(key) && !isReordered(a?.text, b?.text)) continue;
    changes.push({
      key,
      section,
      label,
      before: a?.text ?? null,
      after: b?.text ?? null,
      ...(language !== undefined && { language }),
    });
  }
  return changes;
}

function byKey(entries: readonly Entry[]): ReadonlyMap<string, Entry> {
  return new Map(entries.filter(({ text }) => text !== '').map((entry) => [entry.key, entry]));
}

function itemsIn(entries: ReadonlyMap<string, Entry>): ReadonlySet<string> {
  return new Set([...entries.keys()].filter((key) => entries.get(key)?.item === key));
}

function isReordered(before = '', after = ''): boolean {
  const sorted = (text: string) => text.split(', ').toSorted().join(', ');
  return sorted(before) === sorted(after);
}

function entriesOf(config: ComparedConfiguration, words: DifferenceWords): readonly Entry[] {
  return [
    ...textEntries(config, words),
    ...lookEntries(config, words),
    ...categoryEntries(config, words),
    ...cookieEntries(config, words),
    ...ruleEntries(config, words),
    ...settingsEntries(config, words),
    ...iabEntries(config, words),
  ];
}

function textEntries({ languages, banner: texts, withdrawal }: ComparedConfiguration, words: DifferenceWords): Entry[] {
  const { banner, formats } = words;
  return languages.flatMap((language) => {
    const inLanguage = (key: string, label: string, text = '') => ({
      key: `${key}.${language}`,
      section: 'texts' as const,
      label: `${label} (${formats.languageName(language)})`,
      text,
      language,
    });
    return [
      ...Object.entries(texts[language] ?? {}).map(([name, text]) =>
        inLanguage(`banner.${name}`, banner.names[name] ?? name, text),
      ),
      inLanguage('withdrawal', banner.withdrawal, withdrawal[language]),
    ];
  });
}

function lookEntries({ appearance = DEFAULT_APPEARANCE }: ComparedConfiguration, { banner, formats }: DifferenceWords) {
  const { look } = banner;
  const { layout, side, scheme, font, radius } = appearance;
  const entry = (key: string, label: string, text: string): Entry => ({
    key: `appearance.${key}`,
    section: 'look',
    label,
    text,
  });
  const schemes = (['light', 'dark'] as const).filter((one) => scheme === 'auto' || scheme === one);
  return [
    entry('layout', look.layout, look.layouts[layout]),
    entry('side', look.side, look.sides[side]),
    entry('scheme', look.scheme, look.schemes[scheme]),
    entry('font', look.font, look.fonts[font]),
    entry('radius', look.radius, formats.number(radius)),
    ...schemes.flatMap((one) =>
      (['background', 'text', 'border', 'accept', 'on_accept', 'reject', 'on_reject'] as const).map((name) =>
        entry(`${one}.${name}`, `${look.coloursOf[one]}: ${look.colours[name]}`, appearance[one][name]),
      ),
    ),
  ];
}

function categoryEntries(config: ComparedConfiguration, { banner, formats }: DifferenceWords): readonly Entry[] {
  const { languages, default_language: main, categories } = config;
  const section = 'categories' as const;
  const one = categories.flatMap((category): Entry[] => {
    const { key, title, purpose, required, services = [], retention_days: days } = category;
    const item = `categories.${key}`;
    const entry = (name: string, label: string, text: string, language?: string): Entry => ({
      key: `${item}.${name}`,
      section,
      label: `${key}: ${label}`,
      text,
      item,
      ...(language !== undefined && { language }),
    });
    const named = title[main ?? languages[0] ?? ''] ?? key;
    return [
      { key: item, section, label: `${banner.category}: ${key}`, text: named, item },
      ...languages.flatMap((language) => [
        entry(`title.${language}`, banner.titleIn(formats.languageName(language)), title[language] ?? '', language),
        entry(
          `purpose.${language}`,
          banner.purposeIn(formats.languageName(language)),
          purpose[language] ?? '',
          language,
        ),
      ]),
      entry('required', banner.choice, required ? banner.required : banner.optional),
      entry('lawful_basis', banner.basis, banner.bases[category.lawful_basis]),
      entry('personal_data', banner.personalData, category.personal_data.join('\n')),
      entry('recipients', banner.recipients, category.recipients.join('\n')),
      entry('retention_days', banner.retention, days === null ? '' : formats.number(days)),
      entry(
        'services',
        banner.services,
        services
          .map((service) => `${service.name} (${service.key}): ${service.recipient} ${service.policy_url ?? ''}`.trim())
          .join('\n'),
      ),
    ];
  });
  const order = { key: 'order.categories', section, label: banner.order, text: keysOf(categories, 'key') };
  return [...one, order];
}

function cookieEntries(config: ComparedConfiguration, { banner, formats }: DifferenceWords): readonly Entry[] {
  const section = 'categories' as const;
  return config.cookies.flatMap((cookie): Entry[] => {
    const { name, provider, category, service = '', party, duration_seconds: seconds, purpose } = cookie;
    const item = `cookies.${JSON.stringify([name, provider])}`;
    const entry = (key: string, label: string, text: string, language?: string): Entry => ({
      key: `${item}.${key}`,
      section,
      label: `${name}: ${label}`,
      text,
      item,
      ...(language !== undefined && { language }),
    });
    const lifetime = seconds === null ? null : lifetimeOf(seconds);
    return [
      { key: item, section, label: `${banner.cookie}: ${name}`, text: provider, item },
      entry('category', banner.category, category),
      entry('service', banner.services, service),
      entry('party', banner.party, banner.parties[party]),
      entry(
        'duration',
        banner.duration,
        lifetime === null ? banner.untilClosed : formats.quantity(lifetime.count, lifetime.unit),
      ),
      ...config.languages.map((language) =>
        entry(
          `purpose.${language}`,
          banner.purposeIn(formats.languageName(language)),
          purpose[language] ?? '',
          language,
        ),
      ),
    ];
  });
}

function ruleEntries(
  { rules: all = [], languages }: ComparedConfiguration,
  { rules: words, laws, formats }: DifferenceWords,
): readonly Entry[] {
  const section = 'rules' as const;
  const one = all.flatMap((rule): Entry[] => {
    const item = `rules.${rule.id}`;
    const where = formats.list(whereOf(rule, laws, formats.locale));
    const entry = (name: string, label: string, text: string, language?: string): Entry => ({
      key: `${item}.${name}`,
      section,
      label: `${rule.id}: ${label}`,
      text,
      ...(language !== undefined && { language }),
    });
    return [
      { key: item, section, label: words.ruleAt(rule.id), text: where },
      ...Object.entries(rule.categories).flatMap(([key, decided]) => [
        entry(key, key, decidedText(decided, words)),
        ...(decided.rule === 'exempt'
          ? [
              entry(`${key}.processor`, key, decided.processor === undefined ? '' : words.processor(decided.processor)),
              ...languages.map((language) =>
                entry(
                  `${key}.ground.${language}`,
                  `${key}, ${words.ground(formats.languageName(language))}`,
                  decided.ground[language] ?? '',
                  language,
                ),
              ),
            ]
          : []),
      ]),
    ];
  });
  return [...one, { key: 'order.rules', section, label: words.order, text: keysOf(all, 'id') }];
}

function settingsEntries(
  config: ComparedConfiguration,
  { banner, common, rules: words, formats }: DifferenceWords,
): readonly Entry[] {
  const { controller, languages, default_language: main, validity_days: days = null, domain = '' } = config;
  const { refusal_days: refusal, accounts } = config;
  const refusalText =
    refusal === undefined
      ? words.refusals.default
      : refusal === null
        ? words.refusals.never
        : formats.quantity(refusal, 'days');
  const entry = (key: string, label: string, text: string): Entry => ({ key, section: 'settings', label, text });
  return [
    entry('controller.legal_name', banner.legalName, controller.legal_name ?? ''),
    entry('controller.contact', banner.contact, controller.contact ?? ''),
    entry('languages', banner.languages, formats.list(languages.map(formats.languageName))),
    entry('default_language', banner.defaultLanguage, main === null ? '' : formats.languageName(main)),
    entry('validity_days', banner.validity, days === null ? common.never : formats.number(days)),
    entry('refusal_days', words.refusal, refusalText),
    { ...entry('withdrawal_url', banner.withdrawalUrl, config.withdrawal_url ?? ''), section: 'texts' },
    entry('time_zone', banner.timeZone, config.time_zone ?? banner.noTimeZone),
    entry('service_switches', banner.serviceSwitches, config.service_switches === true ? common.yes : common.no),
    entry('accounts', banner.accounts.title, accounts === undefined ? common.no : common.yes),
    entry('accounts.person_space', banner.accounts.space, accounts?.person_space ?? ''),
    entry('domain', banner.domain, domain),
  ];
}

/** The signals, by the names that the API gives them: whoever sets them knows these. */
function iabEntries({ iab }: ComparedConfiguration, { banner }: DifferenceWords): readonly Entry[] {
  return leavesOf(iab, []).map(([path, text]) => ({
    key: `iab.${path}`,
    section: 'iab',
    label: `${banner.iab.title}: ${path}`,
    text,
  }));
}

/** Values below an object, with their paths. A list is one value. */
function leavesOf(value: unknown, path: readonly string[]): readonly (readonly [path: string, text: string])[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) || typeof value !== 'object')
    return [[path.join('.'), Array.isArray(value) ? value.join(', ') : String(value)]];
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => leavesOf(member, [...path, name]));
}

function keysOf<Name extends string>(items: readonly Readonly<Record<Name, string>>[], name: Name): string {
  return items.map((item) => item[name]).join(', ');
}
