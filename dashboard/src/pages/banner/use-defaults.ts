import { queryOptions, useQuery } from '@tanstack/react-query';
import { isUnread, loadTexts } from '../../../../schemas/banner/load-texts.js';
import type { ConfigurationDraft } from '../../api/types.js';
import { type TextsByLanguage, unconfirmedIn } from './default-texts.js';
import { usePublished } from './published.js';

/** What the dashboard knows about default texts in the languages of a draft. */
export interface Defaults {
  readonly texts: TextsByLanguage;
  /** Languages whose defaults neither a native speaker nor the owner of the site has confirmed. */
  readonly unconfirmed: readonly string[];
}

/** The default texts of languages; those that have none are left out. */
export const defaultTextsOf = (languages: readonly string[]) =>
  queryOptions({
    queryKey: ['default texts', ...languages],
    queryFn: async (): Promise<TextsByLanguage> => {
      const loaded = await Promise.all(
        languages.map(async (language) => [language, await loadTexts(language)] as const),
      );
      return new Map(loaded.flatMap(([language, known]) => (known === undefined ? [] : [[language, known]])));
    },
  });

/** Loads the default texts in the languages of a draft, and nothing of other languages. Undefined while it loads. */
export function useDefaults(siteId: string, draft: ConfigurationDraft): Defaults | undefined {
  const number = draft.in_force?.number;
  const texts = useQuery(defaultTextsOf(draft.languages)).data;
  const before = usePublished(siteId, number);
  // If the version in force cannot be read, nothing counts as confirmed.
  const published = number === undefined || before.isError ? null : before.data;
  if (texts === undefined || published === undefined) return undefined;
  return { texts, unconfirmed: unconfirmedIn(draft, published, texts, isUnread) };
}
