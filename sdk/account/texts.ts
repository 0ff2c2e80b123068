import type { AccountTexts } from '../core/account.js';
import type { Configuration, Label } from '../core/answers.js';
import { isAskedFor, type Kept } from '../core/choice.js';

/** What the texts are about. */
export interface Said {
  readonly device: Kept | null;
  readonly account: Kept | null;
  /** Whether the two have other answers. */
  readonly differs: boolean | undefined;
  /** Whether the person learns that the account's choice applies here. */
  readonly isTold: boolean;
}

/** What a page says of the account's choice, in the words of the configuration. */
export function textsOf(
  { labels, categories, accounts, language }: Configuration,
  { device, account, differs, isTold }: Said,
): AccountTexts {
  const labelOf = (name: string): Label => labels[name] ?? { text: '', language };
  const scope = labelOf('account_scope');
  const space = accounts?.person_space;
  const titles = (kept: Kept | null): string => {
    const on = categories.filter((one) => isAskedFor(one) && kept?.categories[one.key]).map(({ title }) => title);
    return on.length > 0 ? on.join(', ') : labelOf('nothing_optional').text;
  };
  const choice = (name: string, kept: Kept | null): string =>
    `${labelOf(name).text} (${new Date(kept?.at ?? 0).toLocaleDateString(scope.language)}): ${titles(kept)}.`;
  const parts = [
    ...(differs
      ? [labelOf('account_differs').text, choice('this_device', device), choice('your_account', account)]
      : []),
    scope.text,
    ...(space ? [`${labelOf('account_space').text}: ${space}.`] : []),
  ];
  return {
    line: { text: parts.join(' '), language: scope.language },
    told: isTold ? labelOf('account_applies') : undefined,
  };
}
