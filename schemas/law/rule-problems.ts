import {
  type CategoryRule,
  type ConsentCategory,
  type ConsentCookie,
  rulePlaceProblems,
  type SiteRule,
  serviceKeys,
} from '../events/site-config.js';
import type { IabSettings } from '../iab/iab-settings.js';
import { PUBLICATION, type Publication, placesOf, publicationOf } from './publication.js';

/** Where the conditions of an exempt category stand. */
const CONDITIONS = 'PECR, Schedule A1, paragraphs 5 and 6';
/** Usual keys of advertising, whose default types of Google Consent Mode in the SDK are `ad_…`. */
export const ADVERTISING_KEYS: readonly string[] = ['marketing'];
/** Maximum number of places that one message names. */
const MOST_NAMED = 5;

/** What the rules of a configuration depend on. */
export interface RuledConfiguration {
  readonly rules?: readonly SiteRule[];
  readonly categories: readonly ConsentCategory[];
  readonly cookies: readonly Pick<ConsentCookie, 'category' | 'party' | 'provider'>[];
  readonly iab?: IabSettings;
}

/** Why a category cannot be exempt anywhere. */
export const NEVER_EXEMPT = {
  marketing: 'its default types of Google Consent Mode are ad_…, and advertising needs consent',
  tcf: 'it permits purposes or special features of TCF, and advertising needs consent',
  gpp: 'GPP counts it as sale, sharing or targeted advertising, and advertising needs consent',
  recipients: 'somebody besides the processor that the rule names gets the data',
} as const;
export type NeverExempt = keyof typeof NEVER_EXEMPT;

/** Everybody who gets data under a category: its recipients, those of its services, and hosts whose cookies it covers. */
export function recipientsOf(
  { key, recipients, services = [] }: ConsentCategory,
  cookies: RuledConfiguration['cookies'],
): readonly string[] {
  const providers = cookies.filter(({ category, party }) => category === key && party === 'third');
  return [
    ...new Set([
      ...recipients,
      ...services.map(({ recipient }) => recipient),
      ...providers.map(({ provider }) => provider),
    ]),
  ];
}

/**
 * Why a category cannot run without a choice: it is advertising, whatever its key is, or somebody but a processor gets
 * the data.
 * @param processor who processes the data for the site
 */
export function whyNotExempt(
  category: ConsentCategory,
  { cookies, iab }: RuledConfiguration,
  processor: string | undefined,
): readonly NeverExempt[] {
  const { key } = category;
  const { tcf, gpp } = iab ?? {};
  const found: Readonly<Record<NeverExempt, boolean>> = {
    // A page asks for services by their keys as for categories.
    marketing: [key, ...serviceKeys(category)].some((one) => ADVERTISING_KEYS.includes(one)),
    tcf: tcf !== undefined && (Object.hasOwn(tcf.purposes, key) || Object.hasOwn(tcf.special_features, key)),
    gpp: gpp?.opt_out.includes(key) === true,
    recipients: recipientsOf(category, cookies).some((one) => one !== processor),
  };
  return (['marketing', 'tcf', 'gpp', 'recipients'] as const).filter((reason) => found[reason]);
}

/** A rule that cannot be published. */
export interface RuleProblem {
  /** For example `rules.0.categories.statistics`. */
  readonly field: string;
  readonly message: string;
}

/**
 * Lists what the table of publication does not allow, and what makes a rule ambiguous. The texts of grounds are checked
 * with the other texts.
 */
export function* ruleProblems(configuration: RuledConfiguration): Generator<RuleProblem> {
  const { rules = [] } = configuration;
  for (const { path, message } of rulePlaceProblems(rules)) yield { field: path.join('.'), message };
  for (const [index, rule] of rules.entries()) {
    const places = placesOfRule(rule);
    for (const [key, decided] of Object.entries(rule.categories)) {
      for (const message of refusalsOf(key, decided, places, configuration))
        yield { field: `rules.${index}.categories.${key}`, message };
    }
  }
}

/** Why a rule may not say this of a category. */
function* refusalsOf(
  key: string,
  decided: CategoryRule,
  places: readonly string[],
  configuration: RuledConfiguration,
): Generator<string> {
  const category = configuration.categories.find((one) => one.key === key);
  if (category === undefined) yield `there is no category ${key}`;
  else if (category.required) yield `the category ${key} is required: rules are for what visitors can refuse`;
  if (category === undefined || category.required || decided.rule === 'opt_in') return;
  for (const { message } of refusedPlaces(places, decided)) yield message;
  if (decided.rule === 'opt_out') return;
  for (const reason of whyNotExempt(category, configuration, decided.processor)) {
    const others = recipientsOf(category, configuration.cookies).filter((one) => one !== decided.processor);
    const named = reason === 'recipients' ? `: ${others.slice(0, MOST_NAMED).join(', ')}` : '';
    yield `exempt is not allowed for ${key}: ${NEVER_EXEMPT[reason]}${named} (${CONDITIONS})`;
  }
}

/** The places for which a rule applies, and those of its frameworks. */
export function placesOfRule({
  places = [],
  frameworks = [],
}: Pick<SiteRule, 'places' | 'frameworks'>): readonly string[] {
  return [...new Set([...places, ...frameworks.flatMap(placesOf)])];
}

/** The rows that refuse a rule in some of these places, each with the places and a message. */
export function refusedPlaces(
  places: readonly string[],
  decided: Parameters<typeof publicationOf>[1],
): readonly { readonly row: Publication; readonly message: string }[] {
  return PUBLICATION.flatMap((row) => {
    const refused = row.isAllowed ? [] : places.filter((place) => publicationOf(place, decided) === row);
    if (refused.length === 0) return [];
    const named = `${refused.slice(0, MOST_NAMED).join(', ')}${refused.length > MOST_NAMED ? ' and others' : ''}`;
    return [{ row, message: `${decided.rule} is not allowed in ${named}: ${row.because} (${row.source})` }];
  });
}
