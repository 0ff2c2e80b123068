import * as z from 'zod';
import {
  ApiKey,
  ApiKeyParams,
  ApiKeyRestriction,
  ChangeApiKeyRequest,
  CreateApiKeyRequest,
  IdempotencyConflict,
  NewApiKey,
  RotateApiKeyRequest,
} from '../../../schemas/api/panel/api-keys.js';
import { dataOf, PageQuery, pageOf, SiteParams } from '../../../schemas/api/panel/common.js';
import { consentToken } from '../../../schemas/events/consent-recorded.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { createApiKey, genuineKey, renameApiKey, revokeApiKey, rotateApiKey } from '../../tenancy/api-keys/api-keys.js';
import { EDITORS, READERS } from './caller.js';
import { route } from './deps.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows, TimeAndId } from './page.js';

const shared = { auth: 'panel', tag: 'API keys', params: SiteParams } as const;
const one = { ...shared, params: ApiKeyParams, errors: ['RESOURCE_NOT_FOUND'] } as const;
const path = '/api/v1/sites/{site_id}/api-keys';

/** Keys of one site. A key that is not publishable is only in the response that creates it: only its digest is kept. */
export const API_KEY_OPERATIONS = [
  route({
    ...shared,
    id: 'listApiKeys',
    path,
    summary: 'List the API keys of a site, oldest first',
    description: 'Includes revoked and expired keys, because records refer to the key with which they were sent.',
    roles: READERS,
    query: PageQuery,
    response: pageOf(ApiKey),
    handle: ({ params, query }, { apiPool }) => apiKeyList(apiPool, params.site_id, query),
  }),
  route({
    ...shared,
    id: 'createApiKey',
    method: 'post',
    path,
    summary: 'Create an API key',
    description:
      'Only this response contains a key that is not `publishable`. Create a `publishable` key for the pages of the site, and a `secret` one for its backend.',
    roles: EDITORS,
    body: CreateApiKeyRequest,
    example: { body: { name: 'backend of the shop', scope: 'write', restriction: 'secret' } },
    status: 201,
    response: dataOf(NewApiKey),
    action: 'api_key.create',
    change: async ({ params, body }, db) => {
      const { id, key } = await createApiKey(db, params.site_id, body.scope, body);
      return {
        response: { data: { ...(await apiKeyOf(db, params.site_id, id)), key } },
        subject: { kind: 'api_key', id },
        details: { site_id: params.site_id, scope: body.scope, restriction: body.restriction, mode: body.mode },
      };
    },
  }),
  route({
    ...one,
    id: 'readApiKey',
    path: `${path}/{key_id}`,
    summary: 'Get an API key',
    roles: READERS,
    response: dataOf(ApiKey),
    handle: async ({ params }, { apiPool }) => ({
      data: await apiKeyOf(apiPool, params.site_id, params.key_id),
    }),
  }),
  route({
    ...one,
    id: 'changeApiKey',
    method: 'patch',
    path: `${path}/{key_id}`,
    summary: 'Rename an API key',
    roles: EDITORS,
    body: ChangeApiKeyRequest,
    example: { body: { name: 'backend, until spring' } },
    response: dataOf(ApiKey),
    action: 'api_key.rename',
    change: async ({ params, body }, db) => {
      const { name: before } = await apiKeyOf(db, params.site_id, params.key_id);
      await renameApiKey(db, params.site_id, params.key_id, body.name);
      const data = await apiKeyOf(db, params.site_id, params.key_id);
      return {
        response: { data },
        subject: { kind: 'api_key', id: params.key_id },
        details: { site_id: params.site_id, name: { before, after: data.name } },
      };
    },
  }),
  route({
    ...one,
    id: 'rotateApiKey',
    method: 'post',
    path: `${path}/{key_id}/rotate`,
    summary: 'Create a key that replaces another one',
    description:
      'The old key continues to work for `grace_seconds`. Unless it is `publishable`, only this response contains the new key.',
    roles: EDITORS,
    body: RotateApiKeyRequest,
    example: { body: { grace_seconds: 86400 } },
    status: 201,
    response: dataOf(NewApiKey),
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'api_key.rotate',
    change: async ({ params, body }, db, { keyring }) => {
      const { id, key } = await rotateApiKey(db, keyring, params.site_id, params.key_id, body.grace_seconds);
      return {
        response: { data: { ...(await apiKeyOf(db, params.site_id, id)), key } },
        subject: { kind: 'api_key', id: params.key_id },
        details: { site_id: params.site_id, replaced_by: id, grace_seconds: body.grace_seconds },
      };
    },
  }),
  route({
    ...one,
    id: 'revokeApiKey',
    method: 'post',
    path: `${path}/{key_id}/revoke`,
    summary: 'Revoke an API key',
    roles: EDITORS,
    response: dataOf(ApiKey),
    action: 'api_key.revoke',
    change: async ({ params }, db) => {
      await revokeApiKey(db, params.site_id, params.key_id);
      return {
        response: { data: await apiKeyOf(db, params.site_id, params.key_id) },
        subject: { kind: 'api_key', id: params.key_id },
        details: { site_id: params.site_id },
      };
    },
  }),
  route({
    ...shared,
    id: 'listIdempotencyConflicts',
    path: '/api/v1/sites/{site_id}/idempotency-conflicts',
    summary: 'List the idempotency keys that were used again with another body, newest first',
    description:
      'Of the last 30 days, at most 100 for each API key. The service answered with the first consent, and recorded no other.',
    roles: READERS,
    query: PageQuery,
    response: pageOf(IdempotencyConflict),
    handle: ({ params, query }, { apiPool }) => conflictList(apiPool, params.site_id, query),
  }),
];

const KeyRow = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  scope: z.enum(['read', 'write']),
  restriction: ApiKeyRestriction,
  is_test: z.boolean().nullable(),
  digest: z.instanceof(Buffer),
  publishable_key: z.string().nullable(),
  created_at: z.date(),
  last_used_at: z.date().nullable(),
  live_host: z.string().nullable(),
  expires_at: z.date().nullable(),
  replaced_by: z.string().nullable(),
  revoked_at: z.date().nullable(),
});

const SELECT = `select id, name, prefix, scope, restriction, is_test, digest, created_at, last_used_at,
  case when restriction = 'publishable' and revoked_at is null and (expires_at is null or expires_at > now())
       then publishable_key end as publishable_key,
  case when live_seen_at > now() - interval '1 day' then live_host end as live_host, expires_at, replaced_by, revoked_at
  from api_keys where site_id = $1`;

/** A page of a site's keys, oldest first. @throws ApiError VALIDATION_ERROR */
export async function apiKeyList(db: Queryable, siteId: string, page: PageRequest): Promise<Page<ApiKey>> {
  const [createdAt, id] = keyOfCursor(TimeAndId, page) ?? [null, null];
  // Truncated to milliseconds, the precision of the cursor.
  const at = "date_trunc('milliseconds', created_at)";
  const { rows } = await db.query(
    `${SELECT} and ($2::timestamptz is null or (${at}, id) > ($2, $3::uuid)) order by ${at}, id limit $4`,
    [siteId, createdAt, id, page.limit + 1],
  );
  return pageOfRows(page, z.array(KeyRow).parse(rows), (row) => [row.created_at.toISOString(), row.id], shown);
}

/** One key of a site. @throws ChangeRefused `not_found` */
export async function apiKeyOf(db: Queryable, siteId: string, keyId: string): Promise<ApiKey> {
  const { rows } = await db.query(`${SELECT} and id = $2`, [siteId, keyId]);
  const [row] = z.array(KeyRow).parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `The site has no API key ${keyId}.`);
  return shown(row);
}

function shown({ is_test: isTest, digest, ...row }: z.infer<typeof KeyRow>): ApiKey {
  return {
    ...row,
    mode: isTest === true ? 'test' : 'live',
    publishable_key: genuineKey(row.publishable_key, digest),
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  };
}

const ConflictRow = z.object({
  number: z.int(),
  event_id: z.string(),
  api_key_id: z.string(),
  first_at: z.date(),
  last_at: z.date(),
  times: z.int(),
});
const LastNumber = z.tuple([z.int()]);

/** A page of a site's conflicts of idempotency keys, newest first. @throws ApiError VALIDATION_ERROR */
export async function conflictList(
  db: Queryable,
  siteId: string,
  page: PageRequest,
): Promise<Page<IdempotencyConflict>> {
  const [before] = keyOfCursor(LastNumber, page) ?? [null];
  const { rows } = await db.query(
    `select number, event_id, api_key_id, first_at, last_at, times from idempotency_conflicts
      where site_id = $1 and ($2::bigint is null or number < $2) and last_at > now() - interval '30 days'
      order by number desc limit $3`,
    [siteId, before, page.limit + 1],
  );
  return pageOfRows(page, z.array(ConflictRow).parse(rows), ({ number }) => [number], shownConflict);
}

function shownConflict({ number: _, ...row }: z.infer<typeof ConflictRow>): IdempotencyConflict {
  return {
    ...row,
    consent_token: consentToken(row.event_id),
    first_at: row.first_at.toISOString(),
    last_at: row.last_at.toISOString(),
  };
}
