import type { DraftCategory } from '../../../../schemas/api/panel/categories.js';
import type { SiteConfigDraft } from '../../../../schemas/api/panel/configuration.js';
import { changeConfigDraft, readConfigDraft } from '../../../tenancy/configuration/draft.js';
import { addCategory, categoryOf, changeCategory, removeCategory } from '../../../tenancy/configuration/edits.js';
import { pageOfItems } from '../configuration/page-of-items.js';
import type { PanelRoutesOptions } from '../deps.js';
import { changes, type PanelRoute, reads } from '../route.js';
import * as operations from './operations.js';

/**
 * Categories are part of the site's draft: a change names the revision of the draft that it is
 * based on, and holds for visitors once that is published.
 */
export function categoryRoutes({ apiPool }: PanelRoutesOptions): readonly PanelRoute[] {
  return [
    reads(operations.listCategories, async ({ params, query }) => {
      const { draft, revision } = await readConfigDraft(apiPool, params.site_id);
      const categories = draft.categories.map(({ key }) => shown(draft, key));
      return { ...pageOfItems(query, categories, ({ key }) => [key]), revision };
    }),
    changes(operations.createCategory, async ({ params, body }, db) => {
      const { revision: expected, position, ...category } = body;
      const { revision, result } = await changeConfigDraft(db, params.site_id, expected, (before) => {
        const { draft } = addCategory(before, category, position);
        return { draft, result: shown(draft, category.key) };
      });
      return { response: { data: result, revision }, ...audit(params.site_id, category.key, { revision }) };
    }),
    reads(operations.readCategory, async ({ params }) => {
      const { draft, revision } = await readConfigDraft(apiPool, params.site_id);
      return { data: shown(draft, params.category_key), revision };
    }),
    changes(operations.changeCategory, async ({ params, body }, db) => {
      const { site_id: siteId, category_key: key } = params;
      const { revision: expected, position, ...change } = body;
      const { revision, result } = await changeConfigDraft(db, siteId, expected, (before) => {
        const { draft, result: changed } = changeCategory(before, key, change, position);
        return { draft, result: { data: shown(draft, key), changed } };
      });
      const details = { changed: [...result.changed], revision };
      return { response: { data: result.data, revision }, ...audit(siteId, key, details) };
    }),
    changes(operations.deleteCategory, async ({ params, query }, db) => {
      const { site_id: siteId, category_key: key } = params;
      const { revision, result } = await changeConfigDraft(db, siteId, query.revision, (before) => ({
        result: shown(before, key),
        draft: removeCategory(before, key).draft,
      }));
      return { response: { data: result, revision }, ...audit(siteId, key, { revision }) };
    }),
  ];
}

function shown(draft: SiteConfigDraft, key: string): DraftCategory {
  const category = categoryOf(draft, key);
  return { ...category, position: draft.categories.indexOf(category) };
}

function audit<T extends object>(siteId: string, key: string, details: T) {
  return { subject: { kind: 'category', id: key }, details: { site_id: siteId, ...details } };
}
