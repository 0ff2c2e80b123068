import type { SiteRule } from '../../../../schemas/events/site-config.js';
import { dataOf } from '../../api/client.js';
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
