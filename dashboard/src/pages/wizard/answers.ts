import { USUAL_CATEGORIES } from '../../../../schemas/banner/language-texts.js';
import { gapProblem, gapsIn } from '../../../../schemas/text/gaps.js';
import { DEFAULT_APPEARANCE } from '../../../../sdk/banner/default-appearance.js';
import type { ConfigurationDraft } from '../../api/types.js';
import { zoneOfBrowser } from '../banner/time-zones.js';
import { TEMPLATE_LANGUAGES } from '../documents/policy-templates/load-template.js';
import type { PolicyTemplate } from '../documents/policy-templates/policy-template.js';
import type { BannerChoice } from './banner-draft.js';
import { type Policy, withoutGaps } from './policy-text.js';
import type { TypedValues } from './typed.js';

/** The facts that the policy states and the banner does not. */
const POLICY_NAMES = ['address', 'what', 'recipients', 'periods', 'rights'] as const;
export type PolicyName = (typeof POLICY_NAMES)[number];

/** What the user typed and chose. Facts begin empty; a choice begins with what the draft of the site has. */
export interface Answers extends BannerChoice {
  readonly policyLanguage: (typeof TEMPLATE_LANGUAGES)[number];
  readonly facts: Readonly<Record<PolicyName, string>>;
}

/** @param language that of the user */
export function answersOf(kept: TypedValues, draft: ConfigurationDraft, language: string): Answers {
  const wanted = kept.text('policy_language', language);
  const policyLanguage = TEMPLATE_LANGUAGES.find((one) => one === wanted) ?? 'en';
  const before = draft.languages.length > 0 ? draft.languages : [policyLanguage];
  const languages = kept.list('languages') ?? before;
  const standard = [kept.text('default_language', draft.default_language ?? ''), policyLanguage];
  const usual = draft.categories.map(({ key }) => key).filter((key) => USUAL_CATEGORIES.some((one) => one === key));
  const { layout, scheme } = draft.appearance ?? DEFAULT_APPEARANCE;
  return {
    policyLanguage,
    legalName: kept.text('legal_name', draft.controller.legal_name ?? ''),
    contact: kept.text('contact', draft.controller.contact ?? ''),
    facts: {
      address: kept.text('address', ''),
      what: kept.text('what', ''),
      recipients: kept.text('recipients', ''),
      periods: kept.text('periods', ''),
      rights: kept.text('rights', ''),
    },
    categories: kept.list('categories') ?? usual,
    languages,
    defaultLanguage: standard.find((one) => languages.includes(one)) ?? languages[0] ?? '',
    layout: kept.text('layout', layout),
    scheme: kept.text('scheme', scheme),
    timeZone: draft.time_zone ?? zoneOfBrowser(),
  };
}

interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/**
 * Returns what is wrong with the facts, in the words of the service: the names of the fields, in their order.
 * @param needsPolicy whether a policy is published, or only what the banner states of the controller
 */
export function factProblems({ legalName, contact, facts }: Answers, needsPolicy: boolean): readonly FieldProblem[] {
  const { address, ...others } = facts;
  const asked: readonly (readonly [name: string, text: string])[] = needsPolicy
    ? [['legal_name', legalName], ['address', address], ['contact', contact], ...Object.entries(others)]
    : [
        ['legal_name', legalName],
        ['contact', contact],
      ];
  return asked.flatMap(([field, text]) => {
    if (text.trim() === '') return [{ field, message: 'must not be empty' }];
    const gaps = gapsIn(text);
    return gaps.length === 0 ? [] : [{ field, message: gapProblem(gaps) }];
  });
}

/** The policy that the answers make of a template. */
export function policyOf(template: PolicyTemplate, { policyLanguage, legalName, contact, facts }: Answers): Policy {
  const { address, ...others } = facts;
  // The template names the controller within a sentence.
  const who = [legalName, ...address.split('\n')].map((part) => part.trim()).filter((part) => part !== '');
  return {
    language: policyLanguage,
    title: template.title,
    content: withoutGaps(template.content, { ...others, who: who.join(', '), contact }),
  };
}
