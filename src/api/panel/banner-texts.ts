import { PageQuery, pageOf, SiteParams } from '../../../schemas/api/panel/common.js';
import {
  BannerTexts,
  BannerTextsParams,
  BannerTextsResponse,
  PutBannerTextsRequest,
} from '../../../schemas/api/panel/configuration.js';
import { DraftRevision, ExpectedRevisionQuery } from '../../../schemas/api/panel/draft-revision.js';
import { changeConfigDraft, readConfigDraft } from '../../tenancy/configuration/draft.js';
import {
  bannerLanguages,
  bannerTextsOf,
  putBannerTexts,
  removeBannerTexts,
} from '../../tenancy/configuration/edits.js';
import { EDITORS, READERS } from './caller.js';
import { route } from './deps.js';
import { pageOfItems } from './page.js';

const shared = { auth: 'panel', tag: 'Banner texts' } as const;
const list = '/api/v1/sites/{site_id}/banner-texts';
const item = `${list}/{language}`;
/** Enough for all texts of one language, with their JSON escapes. */
const TEXTS_BODY_LIMIT = 1024 * 1024;

/** The banner's texts, by language, are part of the site's draft. A change names the revision that it is based on. */
export const BANNER_OPERATIONS = [
  route({
    ...shared,
    id: 'listBannerTexts',
    path: list,
    summary: 'List the banner texts of the draft, by language',
    description: 'Languages of the site without texts are included.',
    roles: READERS,
    params: SiteParams,
    query: PageQuery,
    response: pageOf(BannerTexts).extend(DraftRevision.shape),
    handle: async ({ params, query }, { apiPool }) => {
      const { draft, revision } = await readConfigDraft(apiPool, params.site_id);
      const texts = bannerLanguages(draft).map((language) => bannerTextsOf(draft, language));
      return { ...pageOfItems(query, texts, ({ language }) => [language]), revision };
    },
  }),
  route({
    ...shared,
    id: 'readBannerTexts',
    path: item,
    summary: 'Get the banner texts of the draft in one language',
    roles: READERS,
    params: BannerTextsParams,
    response: BannerTextsResponse,
    errors: ['RESOURCE_NOT_FOUND'],
    handle: async ({ params }, { apiPool }) => {
      const { draft, revision } = await readConfigDraft(apiPool, params.site_id);
      return { data: bannerTextsOf(draft, params.language), revision };
    },
  }),
  route({
    ...shared,
    id: 'putBannerTexts',
    method: 'put',
    path: item,
    summary: 'Replace the banner texts of one language',
    description:
      'The site chooses the names of the texts. Before publication, every language must have every text. `revision` is optional: 409 WRONG_STATE if it is not that of the draft.',
    roles: EDITORS,
    params: BannerTextsParams,
    body: PutBannerTextsRequest,
    example: {
      body: {
        texts: { title: 'Cookies', accept: 'Accept', reject: 'Reject' },
        withdrawal: 'Change your choice at any time at the foot of each page.',
      },
    },
    bodyLimit: TEXTS_BODY_LIMIT,
    response: BannerTextsResponse,
    errors: ['WRONG_STATE'],
    action: 'banner_texts.put',
    change: async ({ params, body }, db) => {
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
    },
  }),
  route({
    ...shared,
    id: 'deleteBannerTexts',
    method: 'delete',
    path: item,
    summary: 'Remove the banner texts of one language from the draft',
    roles: EDITORS,
    params: BannerTextsParams,
    query: ExpectedRevisionQuery,
    response: BannerTextsResponse,
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'banner_texts.delete',
    change: async ({ params, query }, db) => {
      const { revision, result } = await changeConfigDraft(db, params.site_id, query.revision, (draft) =>
        removeBannerTexts(draft, params.language),
      );
      return {
        response: { data: result, revision },
        subject: { kind: 'banner_texts', id: params.language },
        details: { site_id: params.site_id, revision },
      };
    },
  }),
];
