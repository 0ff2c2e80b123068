import type { ConsentCategory, ConsentCookie, SiteRule } from '../events/site-config.js';
import type { IabSettings } from '../iab/iab-settings.js';
import { PUBLICATION, type Publication, placesOf, publicationOf } from './publication.js';

/** Where the conditions of an exempt category stand. */
export const CONDITIONS = 'PECR, Schedule A1, paragraphs 5 and 6';
/** Usual keys of advertising, whose default types of Google Consent Mode in the SDK are `ad_…`. */
export const ADVERTISING_KEYS: readonly string[] = ['marketing'];
/** Maximum number of places or recipients that one message names. */
export const MOST_NAMED = 5;

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
  { cookies, iab }: Pick<RuledConfiguration, 'cookies' | 'iab'>,
  processor: string | undefined,
): readonly NeverExempt[] {
  const { key } = category;
  const { tcf, gpp } = iab ?? {};
  const found: Readonly<Record<NeverExempt, boolean>> = {
    // A page asks for services by their keys as for categories.
    marketing: [key, ...(category.services ?? []).map((service) => service.key)].some((one) =>
      ADVERTISING_KEYS.includes(one),
    ),
    tcf: tcf !== undefined && (Object.hasOwn(tcf.purposes, key) || Object.hasOwn(tcf.special_features, key)),
    gpp: gpp?.opt_out.includes(key) === true,
    recipients: recipientsOf(category, cookies).some((one) => one !== processor),
  };
  return (['marketing', 'tcf', 'gpp', 'recipients'] as const).filter((reason) => found[reason]);
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
): readonly { readonly row: Publication; readonly places: readonly string[]; readonly message: string }[] {
  return PUBLICATION.flatMap((row) => {
    const refused = row.isAllowed ? [] : places.filter((place) => publicationOf(place, decided) === row);
    if (refused.length === 0) return [];
    const named = `${refused.slice(0, MOST_NAMED).join(', ')}${refused.length > MOST_NAMED ? ' and others' : ''}`;
    return [
      { row, places: refused, message: `${decided.rule} is not allowed in ${named}: ${row.because} (${row.source})` },
    ];
  });
}
