import type { CategoryRule, SiteRule } from '../../../../schemas/events/site-config.js';
import { dataOf } from '../../api/client.js';
import type { ConfigurationDraft } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useDraftChange } from './use-draft.js';

/** Changes the list of rules of a draft. */
export function useRulesChange(siteId: string) {
  const api = useApi();
  return useDraftChange(siteId, (rules: readonly SiteRule[], revision) =>
    dataOf(
      api.PATCH('/api/v1/sites/{site_id}/configuration', {
        params: { path: { site_id: siteId } },
        body: { rules: [...rules], revision },
      }),
    ),
  );
}

type Draft = Pick<ConfigurationDraft, 'rules'>;
type Decided = NonNullable<Draft['rules']>[number]['categories'][string];

/** The rules of a draft. The description of the API has one form with the members of all kinds of rules. */
export function rulesOf({ rules = [] }: Draft): readonly SiteRule[] {
  return rules.map(({ categories, ...rule }) => ({
    ...rule,
    categories: Object.fromEntries(Object.entries(categories).map(([key, one]) => [key, decidedOf(one)])),
  }));
}

function decidedOf({ rule, exception = 'own_statistics', ground = {}, processor }: Decided): CategoryRule {
  if (rule !== 'exempt') return { rule };
  return { rule, exception, ground, ...(processor !== undefined && { processor }) };
}
