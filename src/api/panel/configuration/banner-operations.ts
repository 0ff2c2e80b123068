import { NoBody, None, PageQuery, pageOf, SiteParams } from '../../../../schemas/api/panel/common.js';
import {
  BannerTexts,
  BannerTextsParams,
  BannerTextsResponse,
  PutBannerTextsRequest,
} from '../../../../schemas/api/panel/configuration.js';
import { DraftRevision, ExpectedRevisionQuery } from '../../../../schemas/api/panel/draft-revision.js';
import { EDITORS, operation, READERS } from '../operation.js';

const tag = 'Banner texts';
const list = '/sites/{site_id}/banner-texts';
const one = `${list}/{language}`;
/** All texts of one language, with the escapes of their JSON. */
const TEXTS_BODY_LIMIT = 1024 * 1024;

export const listBannerTexts = operation({
  id: 'listBannerTexts',
  method: 'get',
  path: list,
  tag,
  summary: 'List the banner texts of the draft, by language',
  description: 'Languages of the site without texts are included.',
  roles: READERS,
  params: SiteParams,
  query: PageQuery,
  body: NoBody,
  status: 200,
  response: pageOf(BannerTexts).extend(DraftRevision.shape),
  errors: [],
  action: null,
});

export const readBannerTexts = operation({
  id: 'readBannerTexts',
  method: 'get',
  path: one,
  tag,
  summary: 'Get the banner texts of the draft in one language',
  roles: READERS,
  params: BannerTextsParams,
  query: None,
  body: NoBody,
  status: 200,
  response: BannerTextsResponse,
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const putBannerTexts = operation({
  id: 'putBannerTexts',
  method: 'put',
  path: one,
  tag,
  summary: 'Replace the banner texts of one language',
  description:
    'The site chooses the names of the texts. Before publication, every language must have every text. `revision` is optional: 409 WRONG_STATE if it is not that of the draft.',
  roles: EDITORS,
  params: BannerTextsParams,
  query: None,
  body: PutBannerTextsRequest,
  example: {
    texts: { title: 'Cookies', accept: 'Accept', reject: 'Reject' },
    withdrawal: 'Change your choice at any time at the foot of each page.',
  },
  bodyLimit: TEXTS_BODY_LIMIT,
  status: 200,
  response: BannerTextsResponse,
  errors: ['WRONG_STATE'],
  action: 'banner_texts.put',
});

export const deleteBannerTexts = operation({
  id: 'deleteBannerTexts',
  method: 'delete',
  path: one,
  tag,
  summary: 'Remove the banner texts of one language from the draft',
  roles: EDITORS,
  params: BannerTextsParams,
  query: ExpectedRevisionQuery,
  body: NoBody,
  status: 200,
  response: BannerTextsResponse,
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
  action: 'banner_texts.delete',
});

export const BANNER_OPERATIONS = [listBannerTexts, readBannerTexts, putBannerTexts, deleteBannerTexts];
