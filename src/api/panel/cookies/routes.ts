import type { DraftCookie } from '../../../../schemas/api/panel/cookies.js';
import { changeConfigDraft, readConfigDraft } from '../../../tenancy/configuration/draft.js';
import { addCookie, changeCookie, cookieOf, removeCookie } from '../../../tenancy/configuration/edits.js';
import { pageOfItems } from '../configuration/page-of-items.js';
import type { PanelRoutesOptions } from '../deps.js';
import { changes, type PanelRoute, reads } from '../route.js';
import * as operations from './operations.js';

/**
 * Cookies are part of the site's draft, and belong to one of its categories: a change names the
 * revision that it is based on.
 */
export function cookieRoutes({ apiPool }: PanelRoutesOptions): readonly PanelRoute[] {
  return [
    reads(operations.listCookies, async ({ params, query }) => {
      const { draft, revision } = await readConfigDraft(apiPool, params.site_id);
      const cookies = draft.cookies.filter(({ category }) => (query.category ?? category) === category);
      return { ...pageOfItems(query, cookies, ({ name, id }) => [name, id]), revision };
    }),
    changes(operations.createCookie, async ({ params, body }, db) => {
      const { revision: expected, ...cookie } = body;
      const { revision, result } = await changeConfigDraft(db, params.site_id, expected, (draft) =>
        addCookie(draft, cookie),
      );
      return { response: { data: result, revision }, ...audit(params.site_id, result, { revision }) };
    }),
    reads(operations.readCookie, async ({ params }) => {
      const { draft, revision } = await readConfigDraft(apiPool, params.site_id);
      return { data: cookieOf(draft, params.cookie_id), revision };
    }),
    changes(operations.changeCookie, async ({ params, body }, db) => {
      const { site_id: siteId, cookie_id: id } = params;
      const { revision: expected, ...change } = body;
      const { revision, result } = await changeConfigDraft(db, siteId, expected, (before) => {
        const { draft, result: changed } = changeCookie(before, id, change);
        return { draft, result: { data: cookieOf(draft, id), changed } };
      });
      const details = { changed: [...result.changed], revision };
      return { response: { data: result.data, revision }, ...audit(siteId, result.data, details) };
    }),
    changes(operations.deleteCookie, async ({ params, query }, db) => {
      const { site_id: siteId, cookie_id: id } = params;
      const { revision, result } = await changeConfigDraft(db, siteId, query.revision, (draft) =>
        removeCookie(draft, id),
      );
      return { response: { data: result, revision }, ...audit(siteId, result, { revision }) };
    }),
  ];
}

function audit<T extends object>(siteId: string, { id, name, provider, category }: DraftCookie, details: T) {
  return { subject: { kind: 'cookie', id }, details: { site_id: siteId, name, provider, category, ...details } };
}
