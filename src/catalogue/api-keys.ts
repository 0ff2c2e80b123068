import { randomUUID } from 'node:crypto';
import type { Database } from '../database/pool.js';
import { apiKeyDigest, apiKeyPrefix, newApiKeySecret } from './api-key-secret.js';
import { CatalogueError } from './catalogue-error.js';
import { changeSite } from './change-site.js';
import type { ApiKey } from './site-context.js';

/**
 * Makes an API key of a site.
 * @returns the key, which is kept nowhere and cannot be shown again
 * @throws CatalogueError `not_found`
 */
export function createApiKey(
  database: Database,
  siteId: string,
  scope: ApiKey['scope'],
): Promise<{ readonly id: string; readonly key: string }> {
  const id = randomUUID();
  const key = newApiKeySecret();
  return changeSite(database, siteId, async ({ client }) => {
    await client.query('insert into api_keys (id, site_id, digest, prefix, scope) values ($1, $2, $3, $4, $5)', [
      id,
      siteId,
      apiKeyDigest(key),
      apiKeyPrefix(key),
      scope,
    ]);
    return { id, key };
  });
}

/**
 * Makes a key unusable, within a second in every process.
 * @throws CatalogueError `not_found`
 */
export function revokeApiKey(database: Database, siteId: string, keyId: string): Promise<void> {
  return changeSite(database, siteId, async ({ client }) => {
    const { rowCount } = await client.query(
      'update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1 and site_id = $2',
      [keyId, siteId],
    );
    if (rowCount === 0) throw new CatalogueError('not_found', `The site has no API key ${keyId}.`);
  });
}
