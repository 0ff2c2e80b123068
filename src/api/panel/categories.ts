import {
  CategoryParams,
  CategoryResponse,
  ChangeCategoryRequest,
  CreateCategoryRequest,
  DraftCategory,
} from '../../../schemas/api/panel/categories.js';
import { PageQuery, pageOf, SiteParams } from '../../../schemas/api/panel/common.js';
import type { SiteConfigDraft } from '../../../schemas/api/panel/configuration.js';
import { DraftRevision, ExpectedRevisionQuery } from '../../../schemas/api/panel/draft-revision.js';
import { changeConfigDraft, readConfigDraft } from '../../tenancy/configuration/draft.js';
import { addCategory, categoryOf, changeCategory, removeCategory } from '../../tenancy/configuration/edits.js';
import { EDITORS, READERS } from './caller.js';
import { route } from './deps.js';
import { pageOfItems } from './page.js';

const shared = { auth: 'panel', tag: 'Categories', params: SiteParams } as const;
const one = { ...shared, params: CategoryParams, errors: ['RESOURCE_NOT_FOUND'] } as const;
const list = '/api/v1/sites/{site_id}/categories';
const item = `${list}/{category_key}`;
/** Enough for all texts of a category in every language, with their JSON escapes. */
const CATEGORY_BODY_LIMIT = 1024 * 1024;

/**
 * Categories are part of the site's draft. A change names the revision of the draft that it is based on, and takes
 * effect for visitors when the draft is published.
 */
export const CATEGORY_OPERATIONS = [
  route({
    ...shared,
    id: 'listCategories',
    path: list,
    summary: 'List the categories of the draft, by key',
    description: '`position` states the order in the banner.',
    roles: READERS,
    query: PageQuery,
    response: pageOf(DraftCategory).extend(DraftRevision.shape),
    handle: async ({ params, query }, { apiPool }) => {
      const { draft, revision } = await readConfigDraft(apiPool, params.site_id);
      const categories = draft.categories.map(({ key }) => shown(draft, key));
      return { ...pageOfItems(query, categories, ({ key }) => [key]), revision };
    },
  }),
  route({
    ...shared,
    id: 'createCategory',
    method: 'post',
    path: list,
    summary: 'Add a category to the draft',
    description: '`revision` is optional: 409 WRONG_STATE if it is not that of the draft.',
    roles: EDITORS,
    body: CreateCategoryRequest,
    example: {
      body: {
        key: 'marketing',
        required: false,
        title: { en: 'Marketing' },
        purpose: { en: 'To show suitable offers' },
        lawful_basis: 'consent',
        personal_data: ['pages visited'],
        recipients: ['Example Ads'],
        retention_days: 90,
      },
    },
    bodyLimit: CATEGORY_BODY_LIMIT,
    status: 201,
    response: CategoryResponse,
    errors: ['ALREADY_EXISTS', 'WRONG_STATE'],
    action: 'category.create',
    change: async ({ params, body }, db) => {
      const { revision: expected, position, ...category } = body;
      const { revision, result } = await changeConfigDraft(db, params.site_id, expected, (before) => {
        const { draft } = addCategory(before, category, position);
        return { draft, result: shown(draft, category.key) };
      });
      return { response: { data: result, revision }, ...audit(params.site_id, category.key, { revision }) };
    },
  }),
  route({
    ...one,
    id: 'readCategory',
    path: item,
    summary: 'Get a category of the draft',
    roles: READERS,
    response: CategoryResponse,
    handle: async ({ params }, { apiPool }) => {
      const { draft, revision } = await readConfigDraft(apiPool, params.site_id);
      return { data: shown(draft, params.category_key), revision };
    },
  }),
  route({
    ...one,
    id: 'changeCategory',
    method: 'patch',
    path: item,
    summary: 'Change a category of the draft',
    description:
      'Absent members stay as they are. The key cannot be changed, because cookies and consents refer to it.',
    roles: EDITORS,
    body: ChangeCategoryRequest,
    example: { body: { title: { en: 'Offers' }, position: 0 } },
    bodyLimit: CATEGORY_BODY_LIMIT,
    response: CategoryResponse,
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'category.change',
    change: async ({ params, body }, db) => {
      const { site_id: siteId, category_key: key } = params;
      const { revision: expected, position, ...change } = body;
      const { revision, result } = await changeConfigDraft(db, siteId, expected, (before) => {
        const { draft, result: changed } = changeCategory(before, key, change, position);
        return { draft, result: { data: shown(draft, key), changed } };
      });
      const details = { changed: [...result.changed], revision };
      return { response: { data: result.data, revision }, ...audit(siteId, key, details) };
    },
  }),
  route({
    ...one,
    id: 'deleteCategory',
    method: 'delete',
    path: item,
    summary: 'Remove a category from the draft',
    description: 'Returns the removed category. 409 WRONG_STATE while the draft has a cookie in it.',
    roles: EDITORS,
    query: ExpectedRevisionQuery,
    response: CategoryResponse,
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'category.delete',
    change: async ({ params, query }, db) => {
      const { site_id: siteId, category_key: key } = params;
      const { revision, result } = await changeConfigDraft(db, siteId, query.revision, (before) => ({
        result: shown(before, key),
        draft: removeCategory(before, key).draft,
      }));
      return { response: { data: result, revision }, ...audit(siteId, key, { revision }) };
    },
  }),
];

function shown(draft: SiteConfigDraft, key: string): DraftCategory {
  const category = categoryOf(draft, key);
  return { ...category, position: draft.categories.indexOf(category) };
}

function audit<T extends object>(siteId: string, key: string, details: T) {
  return { subject: { kind: 'category', id: key }, details: { site_id: siteId, ...details } };
}
