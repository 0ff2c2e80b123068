import type { SealedConsent } from '../../../schemas/events/consent-imported.js';
import type { SiteRule } from '../../../schemas/events/site-config.js';
import { stateWithLaw } from '../../../schemas/law/us-states.js';
import type { Texts } from '../i18n/texts.js';
import type { ShownRecord } from './shown-record.js';

/**
 * Says in one sentence by which rule of the site the person was asked, with the laws of states that the rule names, and
 * what a record without a law means. Nothing of a record of before rules.
 */
export function ruleLines(
  consent: SealedConsent,
  { configuration }: Pick<ShownRecord, 'configuration'>,
  texts: Texts,
): [string, string][] {
  const { record } = texts;
  const id = 'rule_id' in consent ? consent.rule_id : undefined;
  const rules = configuration?.rules ?? [];
  const found = rules.find((rule) => rule.id === id);
  const said = [
    ...(found === undefined ? [] : [ruleText(found, consent, configuration, texts)]),
    ...(id === null && rules.length > 0 ? [record.noRule] : []),
    // The list of frameworks has no word for most laws.
    ...(consent.compliance_framework === 'none' ? [record.noFramework] : []),
  ];
  return said.length === 0 ? [] : [[record.rule, said.join(' ')]];
}

function ruleText(
  { id, places = [], frameworks = [], categories }: SiteRule,
  { language }: Pick<SealedConsent, 'language'>,
  configuration: ShownRecord['configuration'],
  { record }: Texts,
): string {
  const laws = places.flatMap((place) => stateWithLaw(place)?.law ?? []);
  const said = Object.entries(categories).map(([key, { rule }]) => {
    const title = configuration?.categories.find((category) => category.key === key)?.title ?? {};
    return record.categoryRules[rule](Object.hasOwn(title, language) ? `“${title[language]}”` : key);
  });
  return record.ruleText({
    id,
    where: [...places, ...frameworks].join(', '),
    laws: laws.join('; '),
    categories: said.join(', '),
  });
}
