import {
  ApiKey,
  ApiKeyParams,
  ChangeApiKeyRequest,
  CreateApiKeyRequest,
  IdempotencyConflict,
  NewApiKey,
  RotateApiKeyRequest,
} from '../../../../schemas/api/panel/api-keys.js';
import { dataOf, NoBody, None, PageQuery, pageOf, SiteParams } from '../../../../schemas/api/panel/common.js';
import { EDITORS, operation, READERS } from '../operation.js';

const tag = 'API keys';
const path = '/sites/{site_id}/api-keys';

export const listApiKeys = operation({
  id: 'listApiKeys',
  method: 'get',
  path,
  tag,
  summary: 'List the API keys of a site, oldest first',
  description: 'Includes revoked and expired keys, because records refer to the key with which they were sent.',
  roles: READERS,
  params: SiteParams,
  query: PageQuery,
  body: NoBody,
  status: 200,
  response: pageOf(ApiKey),
  errors: [],
  action: null,
});

export const createApiKey = operation({
  id: 'createApiKey',
  method: 'post',
  path,
  tag,
  summary: 'Create an API key',
  description:
    'Only this response contains the key. Create a `publishable` key for the pages of the site, and a `secret` one for its backend.',
  roles: EDITORS,
  params: SiteParams,
  query: None,
  body: CreateApiKeyRequest,
  example: { name: 'backend of the shop', scope: 'write', restriction: 'secret' },
  status: 201,
  response: dataOf(NewApiKey),
  errors: [],
  action: 'api_key.create',
});

export const readApiKey = operation({
  id: 'readApiKey',
  method: 'get',
  path: `${path}/{key_id}`,
  tag,
  summary: 'Get an API key',
  roles: READERS,
  params: ApiKeyParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(ApiKey),
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const changeApiKey = operation({
  id: 'changeApiKey',
  method: 'patch',
  path: `${path}/{key_id}`,
  tag,
  summary: 'Rename an API key',
  roles: EDITORS,
  params: ApiKeyParams,
  query: None,
  body: ChangeApiKeyRequest,
  example: { name: 'backend, until spring' },
  status: 200,
  response: dataOf(ApiKey),
  errors: ['RESOURCE_NOT_FOUND'],
  action: 'api_key.rename',
});

export const rotateApiKey = operation({
  id: 'rotateApiKey',
  method: 'post',
  path: `${path}/{key_id}/rotate`,
  tag,
  summary: 'Create a key that replaces another one',
  description: 'The old key continues to work for `grace_seconds`. Only this response contains the new key.',
  roles: EDITORS,
  params: ApiKeyParams,
  query: None,
  body: RotateApiKeyRequest,
  example: { grace_seconds: 86400 },
  status: 201,
  response: dataOf(NewApiKey),
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
  action: 'api_key.rotate',
});

export const revokeApiKey = operation({
  id: 'revokeApiKey',
  method: 'post',
  path: `${path}/{key_id}/revoke`,
  tag,
  summary: 'Revoke an API key',
  roles: EDITORS,
  params: ApiKeyParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(ApiKey),
  errors: ['RESOURCE_NOT_FOUND'],
  action: 'api_key.revoke',
});

export const listIdempotencyConflicts = operation({
  id: 'listIdempotencyConflicts',
  method: 'get',
  path: '/sites/{site_id}/idempotency-conflicts',
  tag,
  summary: 'List the idempotency keys that were used again with another body, newest first',
  description:
    'Of the last 30 days, at most 100 for each API key. The service answered with the first consent, and recorded no other.',
  roles: READERS,
  params: SiteParams,
  query: PageQuery,
  body: NoBody,
  status: 200,
  response: pageOf(IdempotencyConflict),
  errors: [],
  action: null,
});

export const API_KEY_OPERATIONS = [
  listApiKeys,
  createApiKey,
  readApiKey,
  changeApiKey,
  rotateApiKey,
  revokeApiKey,
  listIdempotencyConflicts,
];
