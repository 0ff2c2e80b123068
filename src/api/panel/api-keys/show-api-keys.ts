import * as z from 'zod';
import { type ApiKey, ApiKeyRestriction } from '../../../../schemas/api/panel/api-keys.js';
import type { Queryable } from '../../../platform/database/pool.js';
import { ChangeRefused } from '../../../platform/errors.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows, TimeAndId } from '../page.js';

const KeyRow = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  scope: z.enum(['read', 'write']),
  restriction: ApiKeyRestriction,
  is_test: z.boolean().nullable(),
  created_at: z.date(),
  last_used_at: z.date().nullable(),
  live_host: z.string().nullable(),
  expires_at: z.date().nullable(),
  replaced_by: z.string().nullable(),
  revoked_at: z.date().nullable(),
});

const SELECT = `select id, name, prefix, scope, restriction, is_test, created_at, last_used_at,
  case when live_seen_at > now() - interval '1 day' then live_host end as live_host, expires_at, replaced_by, revoked_at
  from api_keys where site_id = $1`;

/** A page of a site's keys, oldest first. @throws ApiError VALIDATION_ERROR */
export async function apiKeyList(db: Queryable, siteId: string, page: PageRequest): Promise<Page<ApiKey>> {
  const [createdAt, id] = keyOfCursor(TimeAndId, page) ?? [null, null];
  // To the millisecond, like the cursor.
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

function shown({ is_test: isTest, ...row }: z.infer<typeof KeyRow>): ApiKey {
  return {
    ...row,
    mode: isTest === true ? 'test' : 'live',
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  };
}
