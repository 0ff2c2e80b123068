import { askedIn } from '../../../../sdk/core/asked.js';
import type { Kept } from '../../../../sdk/core/choice.js';
import type { Tab } from './tab.js';

const OPTIONAL = ['analytics', 'marketing'] as const;
const SERVICES = ['maps', 'films'] as const;

/** Whether a page permits anything that a visitor can refuse. */
export function permitsSomething({ page }: Tab): boolean {
  return OPTIONAL.some((one) => page.allows(one)) || SERVICES.some((one) => page.allows(one, true));
}

/** What a page must permit after answers, by the rules of docs/sdk-rules.md. */
export function checkAnswers(tab: Tab, categories: Answers, named: Answers): boolean {
  const { page, configuration } = tab;
  const services = configuration.categories.flatMap((one) => (one.services ?? []).map(({ key }) => key));
  const isServiceOn = (one: string): boolean => named[one] ?? categories.marketing === true;
  const isMarketingOn = (categories.marketing ?? services.length > 0) && services.every(isServiceOn);
  const isAnalyticsOn = categories.analytics === true;
  if (page.allows('analytics') !== isAnalyticsOn || page.allows('marketing') !== isMarketingOn)
    throw new Error('a choice has no effect at once');
  if (SERVICES.some((one) => page.allows(one, true) !== (services.includes(one) && isServiceOn(one))))
    throw new Error('a choice has no effect on a service at once');
  const isPermission = isAnalyticsOn || isMarketingOn || services.some(isServiceOn);
  const decision = isAnalyticsOn && isMarketingOn ? 'accepted' : 'partial';
  if (isPermission && page.facts.newest?.decision !== decision)
    throw new Error(`${page.facts.newest?.decision} in place of ${decision}`);
  return isPermission;
}
type Answers = Readonly<Record<string, boolean>>;

/** Names a choice by its order and by what it keeps of its question: two hosts may make choices of one order. */
const nameOf = ({ at, asked }: Kept): string => `${at} ${asked}`;

/** What the questions asked that the visitor answered. */
export class AskedQuestions {
  readonly #asked = new Map<string, readonly string[]>();

  /** Takes the choice that was made on a page. */
  add({ page, configuration }: Tab): void {
    const { newest } = page.facts;
    if (newest !== null) this.#asked.set(nameOf(newest), askedIn(configuration).flat());
  }

  /** A page states what was asked, and asks for what was added to a category that the choice permits. @throws Error otherwise */
  check({ page, configuration }: Tab): void {
    const { newest } = page.facts;
    const asked = newest === null ? undefined : this.#asked.get(nameOf(newest));
    if (asked === undefined) return;
    if (page.asked.flat().some((one) => !asked.includes(one)))
      throw new Error('what was not asked is told as disclosed');
    if (page.choice === null) return;
    // The browser lost the lists while the page was open.
    if (page.asked.length === 0) {
      if (page.choice.isPermitted && !page.isAskedAgain)
        throw new Error('nobody knows what was asked, and nobody asks');
      return;
    }
    const added = askedIn(configuration)[1]?.filter((one) => !asked.includes(one)) ?? [];
    const isMore = added.some((one) => {
      const [category = '', kind, service = ''] = one.split('/');
      return page.choice?.categories[category] === true || (kind === 's' && page.choice?.services?.[service] === true);
    });
    if (page.isAskedAgain !== isMore)
      throw new Error(`asked again: ${page.isAskedAgain}, but more was added: ${isMore}`);
  }
}

/** What an observer knows of the signal beside a page. */
export interface Signal {
  readonly law: string | null;
  readonly isOn: boolean;
  /** Whether it was on since the page was opened, and nothing else disturbed the page. */
  readonly isSteady: boolean;
}

/** The notice stands exactly where the signal opts out by law and nothing optional is permitted. @throws Error otherwise */
export function checkNotice(tab: Tab, { law, isOn, isSteady }: Signal): void {
  const { page } = tab;
  const { notice } = page;
  if (notice !== undefined && (law !== 'ccpa' || !isOn)) throw new Error('a notice without a signal that opts out');
  if (notice !== undefined && permitsSomething(tab)) throw new Error('a notice beside a permission');
  if (isSteady && isOn && law === 'ccpa' && notice === undefined && page.facts.newest?.isPermitted === false)
    throw new Error('a signal that opts out has no notice');
}
