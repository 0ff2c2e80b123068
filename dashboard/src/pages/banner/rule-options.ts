import type { CategoryRule, SiteRule } from '../../../../schemas/events/site-config.js';
import {
  CONDITIONS,
  placesOfRule,
  type RuledConfiguration,
  recipientsOf,
  refusedPlaces,
  whyNotExempt,
} from '../../../../schemas/law/permitted.js';
import type { RuleException } from '../../../../schemas/law/publication.js';
import type { Category } from '../../api/types.js';
import type { Messages } from '../../i18n/messages.js';
import { placeName } from './rule-words.js';

/** What may be said of a category where a rule applies. */
export interface RuleOptions {
  readonly kinds: readonly CategoryRule['rule'][];
  readonly exceptions: readonly RuleException[];
  /** The only recipient of the category, who then is the processor. */
  readonly processor: string | undefined;
  /** Why the other kinds are not permitted, in words. */
  readonly refused: readonly string[];
}

/** Maximum number of places that one reason names. */
const MOST_NAMED = 5;
const EXCEPTIONS = ['own_statistics', 'appearance'] as const satisfies readonly RuleException[];

/** The kinds that a law permits for a category at the places of a rule, and the reasons against the others. */
export function ruleOptions(
  rule: Pick<SiteRule, 'places' | 'frameworks'>,
  category: Category,
  configuration: Pick<RuledConfiguration, 'cookies' | 'iab'>,
  { words, locale }: { readonly words: Messages['rules']; readonly locale: string },
): RuleOptions {
  const places = placesOfRule(rule);
  const reasons = (decided: Parameters<typeof refusedPlaces>[1]): readonly string[] =>
    refusedPlaces(places, decided).map(({ row, places: refused }) => {
      const named = refused.slice(0, MOST_NAMED).map((place) => placeName(place, locale));
      const more = refused.length > MOST_NAMED ? '…' : '';
      return words.refusedIn(
        words.kinds[decided.rule],
        `${named.join(', ')}${more}`,
        words.because[row.id],
        row.source,
      );
    });
  const recipients = recipientsOf(category, configuration.cookies);
  const processor = recipients.length === 1 ? recipients[0] : undefined;
  const never = whyNotExempt(category, configuration, processor).map((reason) =>
    words.neverHere(words.kinds.exempt, words.never[reason], CONDITIONS),
  );
  const optOut = reasons({ rule: 'opt_out' });
  const exempt = EXCEPTIONS.map((exception) => ({ exception, against: reasons({ rule: 'exempt', exception }) }));
  const exceptions = exempt
    .filter(({ against }) => against.length + never.length === 0)
    .map(({ exception }) => exception);
  const againstExempt = exceptions.length > 0 ? [] : [...exempt.flatMap(({ against }) => against), ...never];
  return {
    kinds: [
      'opt_in',
      ...(optOut.length === 0 ? (['opt_out'] as const) : []),
      ...(exceptions.length > 0 ? (['exempt'] as const) : []),
    ],
    exceptions,
    processor,
    refused: [...new Set([...optOut, ...againstExempt])],
  };
}
