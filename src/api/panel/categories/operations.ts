import {
  CategoryParams,
  CategoryResponse,
  ChangeCategoryRequest,
  CreateCategoryRequest,
  DraftCategory,
} from '../../../../schemas/api/panel/categories.js';
import { NoBody, None, PageQuery, pageOf, SiteParams } from '../../../../schemas/api/panel/common.js';
import { DraftRevision, ExpectedRevisionQuery } from '../../../../schemas/api/panel/draft-revision.js';
import { EDITORS, operation, READERS } from '../operation.js';

const tag = 'Categories';
const list = '/sites/{site_id}/categories';
const one = `${list}/{category_key}`;
/** All texts of a category in every language, with the escapes of their JSON. */
const CATEGORY_BODY_LIMIT = 1024 * 1024;

export const listCategories = operation({
  id: 'listCategories',
  method: 'get',
  path: list,
  tag,
  summary: 'List the categories of the draft, by key',
  description: '`position` states the order in the banner.',
  roles: READERS,
  params: SiteParams,
  query: PageQuery,
  body: NoBody,
  status: 200,
  response: pageOf(DraftCategory).extend(DraftRevision.shape),
  errors: [],
  action: null,
});

export const createCategory = operation({
  id: 'createCategory',
  method: 'post',
  path: list,
  tag,
  summary: 'Add a category to the draft',
  description: '`revision` is optional: 409 WRONG_STATE if it is not that of the draft.',
  roles: EDITORS,
  params: SiteParams,
  query: None,
  body: CreateCategoryRequest,
  example: {
    key: 'marketing',
    required: false,
    title: { en: 'Marketing' },
    purpose: { en: 'To show suitable offers' },
    lawful_basis: 'consent',
    personal_data: ['pages visited'],
    recipients: ['Example Ads'],
    retention_days: 90,
  },
  bodyLimit: CATEGORY_BODY_LIMIT,
  status: 201,
  response: CategoryResponse,
  errors: ['ALREADY_EXISTS', 'WRONG_STATE'],
  action: 'category.create',
});

export const readCategory = operation({
  id: 'readCategory',
  method: 'get',
  path: one,
  tag,
  summary: 'Get a category of the draft',
  roles: READERS,
  params: CategoryParams,
  query: None,
  body: NoBody,
  status: 200,
  response: CategoryResponse,
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const changeCategory = operation({
  id: 'changeCategory',
  method: 'patch',
  path: one,
  tag,
  summary: 'Change a category of the draft',
  description: 'Absent members stay as they are. The key cannot be changed, because cookies and consents refer to it.',
  roles: EDITORS,
  params: CategoryParams,
  query: None,
  body: ChangeCategoryRequest,
  example: { title: { en: 'Offers' }, position: 0 },
  bodyLimit: CATEGORY_BODY_LIMIT,
  status: 200,
  response: CategoryResponse,
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
  action: 'category.change',
});

export const deleteCategory = operation({
  id: 'deleteCategory',
  method: 'delete',
  path: one,
  tag,
  summary: 'Remove a category from the draft',
  description: 'Returns the removed category. 409 WRONG_STATE while the draft has a cookie in it.',
  roles: EDITORS,
  params: CategoryParams,
  query: ExpectedRevisionQuery,
  body: NoBody,
  status: 200,
  response: CategoryResponse,
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
  action: 'category.delete',
});

export const CATEGORY_OPERATIONS = [listCategories, createCategory, readCategory, changeCategory, deleteCategory];
