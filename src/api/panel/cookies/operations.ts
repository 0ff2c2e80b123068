import { NoBody, None, pageOf, SiteParams } from '../../../../schemas/api/panel/common.js';
import {
  ChangeCookieRequest,
  CookieParams,
  CookieResponse,
  CookiesQuery,
  CreateCookieRequest,
  DraftCookie,
} from '../../../../schemas/api/panel/cookies.js';
import { DraftRevision, ExpectedRevisionQuery } from '../../../../schemas/api/panel/draft-revision.js';
import { EDITORS, operation, READERS } from '../operation.js';

const tag = 'Cookies';
const list = '/sites/{site_id}/cookies';
const one = `${list}/{cookie_id}`;
/** A purpose in every language, with the escapes of its JSON. */
const COOKIE_BODY_LIMIT = 1024 * 1024;

export const listCookies = operation({
  id: 'listCookies',
  method: 'get',
  path: list,
  tag,
  summary: 'List the cookies of the draft, by name',
  roles: READERS,
  params: SiteParams,
  query: CookiesQuery,
  body: NoBody,
  status: 200,
  response: pageOf(DraftCookie).extend(DraftRevision.shape),
  errors: [],
  action: null,
});

export const createCookie = operation({
  id: 'createCookie',
  method: 'post',
  path: list,
  tag,
  summary: 'Add a cookie to the draft',
  description:
    'The draft must have its category, and no cookie of the same name and provider. `revision` is optional: 409 WRONG_STATE if it is not that of the draft.',
  roles: EDITORS,
  params: SiteParams,
  query: None,
  body: CreateCookieRequest,
  example: {
    name: '_offers',
    provider: 'ads.example',
    category: 'marketing',
    party: 'third',
    duration_seconds: 7776000,
    purpose: { en: 'Remembers which offers were shown' },
  },
  bodyLimit: COOKIE_BODY_LIMIT,
  status: 201,
  response: CookieResponse,
  errors: ['ALREADY_EXISTS', 'WRONG_STATE'],
  action: 'cookie.create',
});

export const readCookie = operation({
  id: 'readCookie',
  method: 'get',
  path: one,
  tag,
  summary: 'Get a cookie of the draft',
  roles: READERS,
  params: CookieParams,
  query: None,
  body: NoBody,
  status: 200,
  response: CookieResponse,
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const changeCookie = operation({
  id: 'changeCookie',
  method: 'patch',
  path: one,
  tag,
  summary: 'Change a cookie of the draft',
  description: 'Absent members stay as they are.',
  roles: EDITORS,
  params: CookieParams,
  query: None,
  body: ChangeCookieRequest,
  example: { duration_seconds: null },
  bodyLimit: COOKIE_BODY_LIMIT,
  status: 200,
  response: CookieResponse,
  errors: ['RESOURCE_NOT_FOUND', 'ALREADY_EXISTS', 'WRONG_STATE'],
  action: 'cookie.change',
});

export const deleteCookie = operation({
  id: 'deleteCookie',
  method: 'delete',
  path: one,
  tag,
  summary: 'Remove a cookie from the draft',
  description: 'Returns the removed cookie. Published versions keep it.',
  roles: EDITORS,
  params: CookieParams,
  query: ExpectedRevisionQuery,
  body: NoBody,
  status: 200,
  response: CookieResponse,
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
  action: 'cookie.delete',
});

export const COOKIE_OPERATIONS = [listCookies, createCookie, readCookie, changeCookie, deleteCookie];
