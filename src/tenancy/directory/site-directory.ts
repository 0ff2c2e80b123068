import { z } from 'zod';
import { ApiKeyRestriction } from '../../../schemas/api/panel/api-keys.js';
import { createFreshCache } from '../../platform/cache/fresh-cache.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors/request-refused.js';
import { type Keyring, type RowSeals, readSealed } from '../../platform/keys/index.js';
import type { ApiKey } from '../api-keys/api-key.js';
import { apiKeyDigest, isApiKeyShaped } from '../api-keys/api-key-secret.js';
import { loadSite, loadSiteRevision, UnknownSite } from './load-site.js';
import type { SiteContext, SiteDirectory } from './site-context.js';

const MAX_AGE_MS = 1000;
const MAX_KEYS = 20_000;
const MAX_SITES = 5_000;
const RETRY_AFTER_SECONDS = 2;

const ApiKeyRow = z.object({
  id: z.string(),
  site_id: z.string(),
  scope: z.enum(['read', 'write']),
  restriction: ApiKeyRestriction,
});

/**
 * Creates a directory that caches sites and API keys for at most one second. A site is read
 * completely only if its revision has changed.
 * @param db may SELECT the tables of tenancy
 * @param now clock in milliseconds
 * @throws each method: RequestRefused API_KEY_LOOKUP_UNAVAILABLE if the database is unavailable
 */
export function createSiteDirectory(
  db: Queryable,
  keyring: Keyring,
  now: () => number = () => performance.now(),
): SiteDirectory {
  const common = { maxAgeMs: MAX_AGE_MS, now };
  const keys = createFreshCache<string, ApiKey | null>({
    ...common,
    maxEntries: MAX_KEYS,
    load: (digest) => explained(loadApiKey(db, keyring, digest)),
  });
  const sites = createFreshCache<string, SiteContext>({
    ...common,
    maxEntries: MAX_SITES,
    load: (siteId, known) => explained(loadIfChanged(db, keyring, siteId, known)),
  });
  return {
    findApiKey: async (key) => (isApiKeyShaped(key) ? keys.get(apiKeyDigest(key).toString('base64')) : null),
    verifiedSite: (domain) => explained(findVerified(db, domain, (siteId) => sites.get(siteId))),
    site: (siteId) => sites.get(siteId),
    refresh: (siteId) => sites.reload(siteId),
  };
}

/** A key whose row was altered does not exist. */
async function loadApiKey(db: Queryable, seals: RowSeals, digest: string): Promise<ApiKey | null> {
  const query = {
    name: 'api_key_by_digest',
    table: 'api_keys',
    where: 'r.digest = $1 and r.revoked_at is null and (r.expires_at is null or r.expires_at > now())',
    values: [Buffer.from(digest, 'base64')],
  } as const;
  const row = await readSealed(db, seals, query, ApiKeyRow);
  return row && { id: row.id, siteId: row.site_id, scope: row.scope, restriction: row.restriction };
}

const SiteIdRows = z.array(z.object({ id: z.string() }));

/** A site whose row was altered does not exist. */
async function findVerified(
  db: Queryable,
  domain: string,
  site: (siteId: string) => Promise<SiteContext>,
): Promise<SiteContext | null> {
  if (domain.includes('\0')) return null;
  const { rows } = await db.query({
    name: 'verified_site',
    text: 'select id from sites where domain = $1 and verified_at is not null order by verified_at desc, id limit 1',
    values: [domain],
  });
  const [row] = SiteIdRows.parse(rows);
  if (row === undefined) return null;
  try {
    const found = await site(row.id);
    return found.isVerified && found.domain === domain ? found : null;
  } catch (error) {
    if (error instanceof RequestRefused && error.code === 'INVALID_API_KEY') return null;
    throw error;
  }
}

async function loadIfChanged(
  db: Queryable,
  keyring: Keyring,
  siteId: string,
  known: SiteContext | undefined,
): Promise<SiteContext> {
  const isSame = known !== undefined && (await loadSiteRevision(db, siteId)) === known.configRevision;
  return isSame ? known : loadSite(db, keyring, siteId);
}

async function explained<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof UnknownSite || error instanceof RequestRefused || error instanceof z.ZodError) throw error;
    const unavailable = new RequestRefused('API_KEY_LOOKUP_UNAVAILABLE', undefined, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
    unavailable.cause = error;
    throw unavailable;
  }
}
