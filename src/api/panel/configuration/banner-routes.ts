import { changeConfigDraft, readConfigDraft } from '../../../tenancy/configuration/draft.js';
import {
  bannerLanguages,
  bannerTextsOf,
  putBannerTexts,
  removeBannerTexts,
} from '../../../tenancy/configuration/edits.js';
import type { PanelRoutesOptions } from '../deps.js';
import { changes, type PanelRoute, reads } from '../route.js';
import * as operations from './banner-operations.js';
import { pageOfItems } from './page-of-items.js';

/**
 * The banner's texts, by language, are part of the site's draft: a change names the revision that
 * it is based on.
 */
export function bannerRoutes({ apiPool }: PanelRoutesOptions): readonly PanelRoute[] {
  return [
    reads(operations.listBannerTexts, async ({ params, query }) => {
      const { draft, revision } = await readConfigDraft(apiPool, params.site_id);
      const texts = bannerLanguages(draft).map((language) => bannerTextsOf(draft, language));
      return { ...pageOfItems(query, texts, ({ language }) => [language]), revision };
    }),
    reads(operations.readBannerTexts, async ({ params }) => {
      const { draft, revision } = await readConfigDraft(apiPool, params.site_id);
      return { data: bannerTextsOf(draft, params.language), revision };
    }),
    changes(operations.putBannerTexts, async ({ params, body }, db) => {
      const { revision: expected, texts, withdrawal } = body;
      const data = { language: params.language, texts, withdrawal };
      const { revision, result } = await changeConfigDraft(db, params.site_id, expected, (draft) =>
        putBannerTexts(draft, data),
      );
      return {
        response: { data, revision },
        subject: { kind: 'banner_texts', id: params.language },
        details: { site_id: params.site_id, changed: [...result], revision },
      };
    }),
    changes(operations.deleteBannerTexts, async ({ params, query }, db) => {
      const { revision, result } = await changeConfigDraft(db, params.site_id, query.revision, (draft) =>
        removeBannerTexts(draft, params.language),
      );
      return {
        response: { data: result, revision },
        subject: { kind: 'banner_texts', id: params.language },
        details: { site_id: params.site_id, revision },
      };
    }),
  ];
}
