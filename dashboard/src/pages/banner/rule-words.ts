import type { CategoryRule, SiteRule } from '../../../../schemas/events/site-config.js';
import { CONDITIONS, NEVER_EXEMPT } from '../../../../schemas/law/permitted.js';
import { PUBLICATION } from '../../../../schemas/law/publication.js';
import { stateWithLaw } from '../../../../schemas/law/us-states.js';
import type { Messages } from '../../i18n/messages.js';

type Words = Messages['rules'];

/** Name of a place in the language of the user, with its code. @param place for example `US-CA` */
export function placeName(place: string, locale: string): string {
  const country = new Intl.DisplayNames(locale, { type: 'region' }).of(place.slice(0, 2)) ?? place;
  if (place.length === 2) return country;
  return `${stateWithLaw(place)?.name ?? country} (${place})`;
}

/** The places and laws of a rule, by name. @param laws names of the laws */
export function whereOf(
  { places = [], frameworks = [] }: Pick<SiteRule, 'places' | 'frameworks'>,
  laws: Readonly<Record<string, string>>,
  locale: string,
): readonly string[] {
  return [
    ...frameworks.map((framework) => laws[framework] ?? framework),
    ...places.map((one) => placeName(one, locale)),
  ];
}

/** What a rule says of a category, in a few words. */
export function decidedText(decided: CategoryRule | undefined, words: Words): string {
  if (decided?.rule !== 'exempt') return words.kinds[decided?.rule ?? 'opt_in'];
  return `${words.kinds.exempt}: ${words.exceptions[decided.exception]}`;
}

/** Messages of the service about rules, each with its words in the dashboard. */
const PATTERNS: readonly (readonly [pattern: RegExp, worded: (words: Words, value: string) => string])[] = [
  [/^there is no category (\S+)$/, (words, key) => words.isGone(key)],
  [/^the category (\S+) is required: rules /, (words, key) => words.isRequired(key)],
  [/^there is another rule (\S+)$/, (words, id) => words.isDouble(id)],
  [/^must name a place or a law; /, (words) => words.needsPlace],
  [/^(\S+) is not a country of ISO 3166-1; /, (words, code) => words.noCountry(code)],
];

/** A problem of a rule in the words of the dashboard. @returns null if it is another problem */
export function ruleProblemText(message: string, words: Words): string | null {
  for (const { id, rule, because, source } of PUBLICATION) {
    const [start, end] = [`${rule} is not allowed in `, `: ${because} (${source})`];
    if (!message.startsWith(start) || !message.endsWith(end)) continue;
    return words.refusedIn(words.kinds[rule], message.slice(start.length, -end.length), words.because[id], source);
  }
  for (const reason of ['marketing', 'tcf', 'gpp', 'recipients'] as const)
    if (message.startsWith('exempt is not allowed for ') && message.includes(`: ${NEVER_EXEMPT[reason]}`))
      return words.neverHere(words.kinds.exempt, words.never[reason], CONDITIONS);
  for (const [pattern, worded] of PATTERNS) {
    const match = pattern.exec(message);
    if (match !== null) return worded(words, match[1] ?? '');
  }
  return null;
}
