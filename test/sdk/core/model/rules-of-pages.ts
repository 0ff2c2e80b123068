import { askedIn } from '../../../../sdk/core/asked.js';
import type { Kept } from '../../../../sdk/core/choice.js';
import type { Tab } from './tab.js';

const OPTIONAL = ['analytics', 'marketing'] as const;

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
    const isMore = added.some((one) => page.choice?.categories[one.split('/')[0] ?? '']);
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
export function checkNotice({ page }: Tab, { law, isOn, isSteady }: Signal): void {
  const { notice } = page;
  if (notice !== undefined && (law !== 'ccpa' || !isOn)) throw new Error('a notice without a signal that opts out');
  if (notice !== undefined && OPTIONAL.some((category) => page.allows(category)))
    throw new Error('a notice beside a permission');
  if (isSteady && isOn && law === 'ccpa' && notice === undefined && page.facts.newest?.isPermitted === false)
    throw new Error('a signal that opts out has no notice');
}
