import type { AccountTexts } from '../core/account.js';
import type { Configuration, Label } from '../core/answers.js';
import { isAskedFor, type Kept } from '../core/choice.js';
import { isText, nullable, objectOf } from '../core/guards.js';

/** Longest list of categories, and longest text, in characters: the record has room for the latter. */
const MOST_NAMED = 200;
const MOST_SAID = 1_000;

/** What the texts are about. */
export interface Said {
  readonly device: Kept | null;
  readonly account: Kept | null;
  /** Whether the two have other answers. */
  readonly differs: boolean | undefined;
  /** Whether the person learns that the account's choice applies here. */
  readonly isTold: boolean;
}

const isAccounts = objectOf<{ person_space: string | null }>({ person_space: nullable(isText) });

/** What the configuration says of accounts, or undefined if the site has none. */
export function accountsOf({ accounts }: Configuration): { readonly person_space: string | null } | undefined {
  return isAccounts(accounts) ? accounts : undefined;
}

/** What a page says of the account's choice, in the words of the configuration. */
export function textsOf(configuration: Configuration, { device, account, differs, isTold }: Said): AccountTexts {
  const { labels, categories, language } = configuration;
  const labelOf = (name: string): Label => labels[name] ?? { text: '', language };
  const scope = labelOf('account_scope');
  const space = accountsOf(configuration)?.person_space;
  const titles = (kept: Kept | null): string => {
    const on = categories.filter((one) => isAskedFor(one) && kept?.categories[one.key]).map(({ title }) => title);
    const text = on.length > 0 ? on.join(', ') : labelOf('nothing_optional').text;
    return text.length > MOST_NAMED ? `${text.slice(0, MOST_NAMED)}…` : text;
  };
  const choice = (name: string, kept: Kept | null): string => {
    // Numbers alone are another day to some readers of the language.
    const date = new Date(kept?.at ?? 0).toLocaleDateString(scope.language, { dateStyle: 'long' });
    return `${labelOf(name).text} (${date}): ${titles(kept)}`;
  };
  const lines = [
    ...(differs
      ? [labelOf('account_differs').text, choice('this_device', device), choice('your_account', account)]
      : []),
    // Names of companies may end with a full stop.
    space ? `${scope.text} ${labelOf('account_space').text}: ${space}` : scope.text,
  ];
  return {
    line: { text: lines.join('\n').slice(0, MOST_SAID), language: scope.language },
    told: isTold ? labelOf('account_applies') : undefined,
  };
}
