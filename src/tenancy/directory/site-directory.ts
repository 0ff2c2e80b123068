import * as z from 'zod';
import { ApiKeyRestriction } from '../../../schemas/api/panel/api-keys.js';
import { createFreshCache, joinLookUps } from '../../platform/caches.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import { type Keyring, type RowSeals, SealedBytes, sealedRows } from '../../platform/keys/index.js';
import type { ApiKey } from '../api-keys/api-key.js';
import { apiKeyDigest, isApiKeyShaped } from '../api-keys/api-key-secret.js';
import { loadSite, loadSiteRevisions, UnknownSite } from './load-site.js';
import type { SiteContext, SiteDirectory } from './site-context.js';

const MAX_AGE_MS = 1000;
const MAX_KEYS = 20_000;
const MAX_SITES = 5_000;
const RETRY_AFTER_SECONDS = 2;

const ApiKeyRow = z.object({
  id: z.string(),
  site_id: z.string(),
  digest: SealedBytes,
  scope: z.enum(['read', 'write']),
  restriction: ApiKeyRestriction,
  is_test: z.boolean().nullable(),
});

/**
 * Creates a directory that caches sites and API keys for at most one second. A site is read
 * completely only if its revision has changed. What concurrent requests look up is joined: with a
 * thousand sites, most requests find nothing in the cache.
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
  const loadApiKey = joinLookUps((digests: readonly string[]) => loadApiKeys(db, keyring, digests));
  const loadRevision = joinLookUps((siteIds: readonly string[]) => loadSiteRevisions(db, siteIds));
  const keys = createFreshCache<string, ApiKey | null>({
    ...common,
    maxEntries: MAX_KEYS,
    load: (digest) => explained(loadApiKey(digest).then((key) => key ?? null)),
  });
  const sites = createFreshCache<string, SiteContext>({
    ...common,
    maxEntries: MAX_SITES,
    load: (siteId, known) =>
      explained(
        (async () => {
          const isSame = known !== undefined && (await loadRevision(siteId)) === known.configRevision;
          return isSame ? known : loadSite(db, keyring, siteId);
        })(),
      ),
  });
  return {
    findApiKey: async (key) => (isApiKeyShaped(key) ? keys.get(apiKeyDigest(key).toString('base64')) : null),
    verifiedSite: (domain) => explained(findVerified(db, domain, (siteId) => sites.get(siteId))),
    site: (siteId) => sites.get(siteId),
    refresh: (siteId) => sites.reload(siteId),
  };
}

/** @returns by digest, in base64. A key whose row was altered does not exist. */
async function loadApiKeys(
  db: Queryable,
  seals: RowSeals,
  digests: readonly string[],
): Promise<ReadonlyMap<string, ApiKey>> {
  const rows = await sealedRows(db, {
    name: 'api_keys_by_digest',
    table: 'api_keys',
    where: 'r.digest = any($1::bytea[]) and r.revoked_at is null and (r.expires_at is null or r.expires_at > now())',
    values: [digests.map((digest) => Buffer.from(digest, 'base64'))],
  });
  const opened = await Promise.all(rows.map((row) => seals.open(row, ApiKeyRow)));
  const keys = opened.filter((row) => row !== null);
  return new Map(
    keys.map(({ id, site_id: siteId, scope, restriction, is_test: isTest, digest }) => [
      digest.toString('base64'),
      { id, siteId, scope, restriction, mode: isTest === true ? 'test' : 'live' },
    ]),
  );
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
