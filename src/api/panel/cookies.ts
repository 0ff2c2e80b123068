import { pageOf, SiteParams } from '../../../schemas/api/panel/common.js';
import {
  ChangeCookieRequest,
  CookieParams,
  CookieResponse,
  CookiesQuery,
  CreateCookieRequest,
  DraftCookie,
} from '../../../schemas/api/panel/cookies.js';
import { DraftRevision, ExpectedRevisionQuery } from '../../../schemas/api/panel/draft-revision.js';
import { changeConfigDraft, readConfigDraft } from '../../tenancy/configuration/draft.js';
import { addCookie, changeCookie, cookieOf, removeCookie } from '../../tenancy/configuration/edits.js';
import { EDITORS, READERS } from './caller.js';
import { route } from './deps.js';
import { pageOfItems } from './page.js';

const shared = { auth: 'panel', tag: 'Cookies', params: SiteParams } as const;
const one = { ...shared, params: CookieParams, errors: ['RESOURCE_NOT_FOUND'] } as const;
const list = '/api/v1/sites/{site_id}/cookies';
const item = `${list}/{cookie_id}`;
/** Enough for a purpose in every language, with its JSON escapes. */
const COOKIE_BODY_LIMIT = 1024 * 1024;

/**
 * Cookies are part of the site's draft, and each belongs to one of its categories. A change names the revision that it
 * is based on.
 */
export const COOKIE_OPERATIONS = [
  route({
    ...shared,
    id: 'listCookies',
    path: list,
    summary: 'List the cookies of the draft, by name',
    roles: READERS,
    query: CookiesQuery,
    response: pageOf(DraftCookie).extend(DraftRevision.shape),
    handle: async ({ params, query }, { apiPool }) => {
      const { draft, revision } = await readConfigDraft(apiPool, params.site_id);
      const cookies = draft.cookies.filter(({ category }) => (query.category ?? category) === category);
      return { ...pageOfItems(query, cookies, ({ name, id }) => [name, id]), revision };
    },
  }),
  route({
    ...shared,
    id: 'createCookie',
    method: 'post',
    path: list,
    summary: 'Add a cookie to the draft',
    description:
      'The draft must have its category, and no cookie of the same name and provider. `revision` is optional: 409 WRONG_STATE if it is not that of the draft.',
    roles: EDITORS,
    body: CreateCookieRequest,
    example: {
      body: {
        name: '_offers',
        provider: 'ads.example',
        category: 'marketing',
        party: 'third',
        duration_seconds: 7776000,
        purpose: { en: 'Remembers which offers were shown' },
      },
    },
    bodyLimit: COOKIE_BODY_LIMIT,
    status: 201,
    response: CookieResponse,
    errors: ['ALREADY_EXISTS', 'WRONG_STATE'],
    action: 'cookie.create',
    change: async ({ params, body }, db) => {
      const { revision: expected, ...cookie } = body;
      const { revision, result } = await changeConfigDraft(db, params.site_id, expected, (draft) =>
        addCookie(draft, cookie),
      );
      return { response: { data: result, revision }, ...audit(params.site_id, result, { revision }) };
    },
  }),
  route({
    ...one,
    id: 'readCookie',
    path: item,
    summary: 'Get a cookie of the draft',
    roles: READERS,
    response: CookieResponse,
    handle: async ({ params }, { apiPool }) => {
      const { draft, revision } = await readConfigDraft(apiPool, params.site_id);
      return { data: cookieOf(draft, params.cookie_id), revision };
    },
  }),
  route({
    ...one,
    id: 'changeCookie',
    method: 'patch',
    path: item,
    summary: 'Change a cookie of the draft',
    description: 'Absent members stay as they are.',
    roles: EDITORS,
    body: ChangeCookieRequest,
    example: { body: { duration_seconds: null } },
    bodyLimit: COOKIE_BODY_LIMIT,
    response: CookieResponse,
    errors: ['RESOURCE_NOT_FOUND', 'ALREADY_EXISTS', 'WRONG_STATE'],
    action: 'cookie.change',
    change: async ({ params, body }, db) => {
      const { site_id: siteId, cookie_id: id } = params;
      const { revision: expected, ...change } = body;
      const { revision, result } = await changeConfigDraft(db, siteId, expected, (before) => {
        const { draft, result: changed } = changeCookie(before, id, change);
        return { draft, result: { data: cookieOf(draft, id), changed } };
      });
      const details = { changed: [...result.changed], revision };
      return { response: { data: result.data, revision }, ...audit(siteId, result.data, details) };
    },
  }),
  route({
    ...one,
    id: 'deleteCookie',
    method: 'delete',
    path: item,
    summary: 'Remove a cookie from the draft',
    description: 'Returns the removed cookie. Published versions keep it.',
    roles: EDITORS,
    query: ExpectedRevisionQuery,
    response: CookieResponse,
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'cookie.delete',
    change: async ({ params, query }, db) => {
      const { site_id: siteId, cookie_id: id } = params;
      const { revision, result } = await changeConfigDraft(db, siteId, query.revision, (draft) =>
        removeCookie(draft, id),
      );
      return { response: { data: result, revision }, ...audit(siteId, result, { revision }) };
    },
  }),
];

function audit<T extends object>(siteId: string, { id, name, provider, category }: DraftCookie, details: T) {
  return { subject: { kind: 'cookie', id }, details: { site_id: siteId, name, provider, category, ...details } };
}
