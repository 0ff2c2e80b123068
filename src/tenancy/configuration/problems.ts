import type { DraftProblem, SiteConfigDraft } from '../../../schemas/api/panel/configuration.js';
import { unfairThemes } from '../../../schemas/banner/fair-appearance.js';
import { decidableServices } from '../../../schemas/events/site-config.js';
import type { TcfSettings } from '../../../schemas/iab/iab-settings.js';
import type { VendorList } from '../../../schemas/iab/vendor-list.js';
import { ownMember } from '../../../schemas/json/own-member.js';
import { ruleProblems } from '../../../schemas/law/rule-problems.js';
import { gapProblem, gapsIn } from '../../../schemas/text/gaps.js';
import { knowsTimeZone } from '../../../schemas/text/time-zone.js';
import { isOnDomain } from '../../../schemas/text/withdrawal-url.js';
import { ChangeRefused } from '../../platform/errors.js';
import { coversSubdomains, type Proof } from '../sites/proof-state.js';
import type { FindVendorList } from './vendor-lists.js';

/** The draft cannot be published yet; `problems` lists the reasons. */
export class IncompleteConfiguration extends ChangeRefused {
  constructor(readonly problems: readonly DraftProblem[]) {
    const listed = problems.map(({ field, message }) => `  ${field}: ${message}`).join('\n');
    super('invalid', `The configuration is not complete:\n${listed}`, problems);
  }
}

/**
 * Maximum number of bytes that the answers to all categories and services may take in the cookie of the browser SDK
 * (docs/sdk.md): for each, its key and two separators. The other members take up to 750 bytes. Browsers store 4,096
 * bytes of a cookie (RFC 6265 §6.1); some also count its name and attributes.
 */
export const MAX_ANSWER_BYTES = 3_200;

/** Maximum number of problems in one response. */
const MAX_PROBLEMS = 200;

/**
 * Lists the reasons why a draft cannot be published: no controller, no default language, categories
 * that do not fit into the cookie, an unfair theme, a rule that no law permits, or a text that is missing in a language or has a gap. A person
 * who consents must have been able to read every text in the displayed language.
 * @param vendorList the vendor list that the draft names, or null if there is none
 * @param site the domain on which the draft may name an address
 */
export function problemsOf(
  draft: SiteConfigDraft,
  vendorList: VendorList | null,
  site: ProvedSite,
): readonly DraftProblem[] {
  return [
    ...settingsProblems(draft),
    ...withdrawalProblems(draft, site),
    ...keyProblems(draft),
    ...sizeProblems(draft),
    ...themeProblems(draft),
    ...iabProblems(draft, vendorList),
    ...lawProblems(draft),
    ...textProblems(draft),
  ].slice(0, MAX_PROBLEMS);
}

/** Finds the vendor list that a draft names. @returns null if it names none, or the operator does not have the file */
export async function namedVendorList(
  { iab }: Pick<SiteConfigDraft, 'iab'>,
  findVendorList: FindVendorList,
): Promise<VendorList | null> {
  return iab?.tcf === undefined ? null : ((await findVendorList(iab.tcf.vendor_list.sha256))?.list ?? null);
}

function* settingsProblems(draft: SiteConfigDraft): Generator<DraftProblem> {
  const { controller, default_language, languages, time_zone: zone } = draft;
  yield* textProblem('controller.legal_name', controller.legal_name);
  yield* textProblem('controller.contact', controller.contact);
  if (languages.length === 0) yield { field: 'languages', message: 'must list at least one language' };
  if (default_language === null) yield missing('default_language');
  else if (!languages.includes(default_language))
    yield { field: 'default_language', message: `must be one of languages, not ${default_language}` };
  if (zone !== undefined && !knowsTimeZone(zone))
    yield { field: 'time_zone', message: `this service knows no time zone ${zone}; choose one like Europe/Istanbul` };
}

/** The domain of a site, and how it was proved. */
interface ProvedSite {
  readonly domain: string;
  readonly proof: Proof | null;
}

/** Refuses an address of which the tenant has not proved that it is the site's: it stands in every certificate. */
function* withdrawalProblems({ withdrawal_url: url }: SiteConfigDraft, site: ProvedSite): Generator<DraftProblem> {
  if (url === undefined || isOnDomain(url, site.domain, coversSubdomains(site.proof))) return;
  const below = coversSubdomains(site.proof) ? ' or a subdomain of it' : '; a file or a tag proves that host alone';
  yield { field: 'withdrawal_url', message: `must be on ${site.domain}${below}` };
}

/** Refuses a key `__proto__`. Consents store the answers as members of an object, which would lose it. */
export function* keyProblems({ categories }: Pick<SiteConfigDraft, 'categories'>): Generator<DraftProblem> {
  const isLost = ({ key }: { readonly key: string }): boolean => key === '__proto__';
  if (categories.some((category) => isLost(category) || category.services?.some(isLost) === true)) {
    yield { field: 'categories.__proto__', message: 'is not allowed as the key of a category or service' };
  }
}

/**
 * Refuses categories and services whose answers do not fit into the cookie: visitors would be asked again, and recorded
 * again, on every page.
 */
function* sizeProblems(draft: SiteConfigDraft): Generator<DraftProblem> {
  const keys = [...draft.categories.map(({ key }) => key), ...decidableServices(draft)];
  const bytes = keys.reduce((sum, key) => sum + key.length + 2, 0);
  if (bytes > MAX_ANSWER_BYTES) {
    const message = `the keys have ${bytes} bytes with their separators, and a visitor's choice fits into a cookie up to ${MAX_ANSWER_BYTES}; use fewer categories and services, or shorter keys`;
    yield { field: 'categories', message };
  }
}

/** A rule that no law permits is refused with its source, and an exempt category needs its ground in each language. */
function* lawProblems(draft: SiteConfigDraft): Generator<DraftProblem> {
  yield* ruleProblems(draft);
  for (const [index, { places = [], categories }] of (draft.rules ?? []).entries()) {
    for (const [at, place] of places.entries()) {
      const country = place.slice(0, 2);
      if (!isCountry(country)) yield { field: `rules.${index}.places.${at}`, message: noCountry(country) };
    }
    for (const [key, decided] of Object.entries(categories)) {
      if (decided.rule !== 'exempt') continue;
      for (const language of draft.languages)
        yield* textProblem(`rules.${index}.categories.${key}.ground.${language}`, ownMember(decided.ground, language));
    }
  }
}

/** An unfair theme is refused with the rule that it breaks, and the source of the rule. */
function themeProblems({ appearance }: SiteConfigDraft): readonly DraftProblem[] {
  if (appearance === undefined) return [];
  return unfairThemes(appearance).map(({ field, message }) => ({ field, message }));
}

function* textProblems({
  languages,
  banner,
  withdrawal,
  categories,
  cookies,
}: SiteConfigDraft): Generator<DraftProblem> {
  const names = [...new Set(languages.flatMap((language) => Object.keys(banner[language] ?? {})))].sort();
  for (const language of languages) {
    for (const name of names) {
      yield* textProblem(`banner.${language}.${name}`, ownMember(banner[language], name));
    }
    yield* textProblem(`withdrawal.${language}`, withdrawal[language]);
    for (const { key, title, purpose } of categories) {
      yield* textProblem(`categories.${key}.title.${language}`, title[language]);
      yield* textProblem(`categories.${key}.purpose.${language}`, purpose[language]);
    }
    for (const { name, purpose } of cookies) {
      yield* textProblem(`cookies.${name}.purpose.${language}`, purpose[language]);
    }
  }
  for (const { key, recipients, personal_data: data, services = [] } of categories) {
    const names = services.flatMap(({ name, recipient }) => [name, recipient]);
    for (const text of [...recipients, ...data, ...names]) yield* gapProblems(`categories.${key}`, text);
  }
  for (const { name, provider } of cookies) yield* gapProblems(`cookies.${name}.provider`, provider);
}

function missing(field: string): DraftProblem {
  return { field, message: 'is missing' };
}

function* textProblem(field: string, text: string | null | undefined): Generator<DraftProblem> {
  if (text === null || text === undefined || text.trim() === '') yield missing(field);
  else yield* gapProblems(field, text);
}

function* gapProblems(field: string, text: string): Generator<DraftProblem> {
  const gaps = gapsIn(text);
  if (gaps.length > 0) yield { field, message: gapProblem(gaps) };
}

/** Maximum number of vendors that one message names. */
const MOST_NAMED = 10;

/**
 * Lists the reasons why the IAB signals of a draft cannot be published.
 * @param list the vendor list that the draft names, or null if the operator does not have the file
 */
export function* iabProblems(
  { iab, categories }: Pick<SiteConfigDraft, 'iab' | 'categories'>,
  list: VendorList | null,
): Generator<DraftProblem> {
  const optional = new Map(categories.filter(({ required }) => !required).map((one) => [one.key, one]));
  const { tcf, gpp } = iab ?? {};
  if (gpp?.cmp_id === 0) {
    const message = 'must be 1 for a platform that is not registered (IAB Tech Lab, CMP API of GPP, “What is CMP ID?”)';
    yield { field: 'iab.gpp.cmp_id', message };
  }
  for (const key of gpp?.opt_out ?? []) {
    if (!optional.has(key)) yield { field: 'iab.gpp.opt_out', message: noCategory(key) };
  }
  if (tcf === undefined) return;
  if (!isCountry(tcf.publisher_country)) {
    yield { field: 'iab.tcf.publisher_country', message: noCountry(tcf.publisher_country) };
  }
  for (const name of ['purposes', 'special_features'] as const) {
    for (const key of Object.keys(tcf[name])) {
      const category = optional.get(key);
      if (category === undefined) yield { field: `iab.tcf.${name}.${key}`, message: noCategory(key) };
      else if (category.lawful_basis !== 'consent') {
        const message = `the category ${key} must have the lawful basis consent: the TC string states consent`;
        yield { field: `iab.tcf.${name}.${key}`, message };
      }
    }
    const numbers = Object.values(tcf[name]).flat();
    if (new Set(numbers).size !== numbers.length) {
      const message = 'a number is given to two categories, so that one answer could not be told from the other';
      yield { field: `iab.tcf.${name}`, message };
    }
  }
  yield* listProblems(tcf, list);
}

function* listProblems({ vendor_list: named, vendors }: TcfSettings, list: VendorList | null): Generator<DraftProblem> {
  if (list === null) {
    const message = `the operator has no vendor list with the SHA-256 ${named.sha256} (variable IAB_VENDOR_LISTS)`;
    yield { field: 'iab.tcf.vendor_list.sha256', message };
    return;
  }
  if (list.vendorListVersion !== named.version) {
    const message = `the file has the version ${list.vendorListVersion}, not ${named.version}`;
    yield { field: 'iab.tcf.vendor_list.version', message };
  }
  const unknown = vendors.filter((id) => {
    const vendor = list.vendors[id];
    return vendor === undefined || vendor.deletedDate !== undefined;
  });
  if (unknown.length > 0) {
    const message = `the vendor list does not have ${unknown.slice(0, MOST_NAMED).join(', ')}${unknown.length > MOST_NAMED ? ' and others' : ''}`;
    yield { field: 'iab.tcf.vendors', message };
  }
}

/** Returns whether ISO 3166-1 currently assigns a code of two capital letters. */
function isCountry(code: string): boolean {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const isAssigned =
    names.of(code) !== undefined && !/^(?:X[A-Z]|Q[M-Z]|AA|ZZ|E[UZ]|UN|AC|CP|CQ|DG|EA|IC|TA)$/.test(code);
  return isAssigned && new Intl.Locale('und', { region: code }).region === code;
}

function noCountry(code: string): string {
  return `${code} is not a country of ISO 3166-1; the United Kingdom is GB`;
}

function noCategory(key: string): string {
  return `there is no category ${key} that visitors can refuse`;
}
