import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { ApiKeyRestriction } from '../../../schemas/api/panel/api-keys.js';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
import { parseSiteConfig } from '../../../schemas/events/sealed-event.js';
import { longer } from '../../../schemas/law/periods.js';
import { createFreshCache, joinLookUps } from '../../platform/caches.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import {
  type Keyring,
  type RowSeals,
  SealedBytes,
  SealedTime,
  sealed,
  sealedRow,
  sealedRows,
} from '../../platform/keys/index.js';
import { type ApiKey, apiKeyDigest, isApiKeyShaped } from '../api-keys/api-keys.js';
import { coversSubdomains, isLapsed, Proof } from '../sites/proof-state.js';
import type { ActiveVersion, SiteContext, SiteDirectory } from './site-context.js';

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
 * Creates a directory that caches sites and API keys for at most one second. A site is read completely only if its
 * revision has changed. Look-ups of concurrent requests are combined, because with a thousand sites most requests miss
 * the cache.
 * @param db a handle that may SELECT the tables of tenancy
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

/** Loads API keys. @returns by digest, in base64, without keys whose row was altered */
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

/** Finds the site with a verified domain, ignoring sites whose row was altered. */
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

const SiteRow = z.object({
  site: sealedRow('sites'),
  config_revision: z.int(),
  record: z.string().nullable(),
  /** `validity_days` of every configuration that the site has published, each value once. */
  validities: z.array(z.int().nullable()),
  plan: sealedRow('subscriptions').nullable(),
  versions: z.array(
    z.object({
      version: sealedRow('document_versions'),
      document: sealedRow('documents'),
      /** Null for a document of the site itself. */
      attachment: sealedRow('document_attachments').nullable(),
      /** The version of the home site that this one repeats, or null for a version of the site itself. */
      home: sealedRow('document_versions').nullable(),
    }),
  ),
});

const Site = z.object({
  tenant_id: z.string(),
  domain: z.string(),
  verified_at: z.string().nullable(),
  proof: Proof.nullable(),
  proof_looked_at: SealedTime.nullable(),
  proof_failing_since: SealedTime.nullable(),
  allowed_origins: z.array(z.string()),
  allowed_ips: z.array(z.string()),
  site_config_hash: z.string().nullable(),
});
const Plan = z.object({
  plan: z.string(),
  is_active: z.boolean(),
  rate_limit_per_minute: z.int(),
  consent_quota: z.int().nullable(),
});
const Document = z.object({
  site_id: z.string(),
  slug: z.string(),
  kind: z.string(),
  requires_approval_token: z.boolean(),
});
/** The members that a version shares with the one that it repeats. */
const Text = z.object({
  document_id: z.string(),
  language: z.string(),
  title: z.string(),
  media_type: z.string(),
  content_sha256: z.string(),
});
const Version = Text.extend({ id: z.string(), number: z.int() });
const Nothing = z.object({});

// One statement, so that all values belong to the same `config_revision`. In canonical JSON, the last member of this name
// is that of the configuration itself. A JSON function of PostgreSQL would refuse a text with U+0000, and a pattern over
// whole texts takes ten times as long.
const SITE_SQL = `
select ${sealed('sites', 's')} as site, s.config_revision, c.record,
       array(select distinct substring(split_part(x.record, '"validity_days":', -1) from '^[0-9]+')::int
               from site_configs x where x.site_id = s.id) as validities, ${sealed('subscriptions', 'p')} as plan,
       coalesce((
         select jsonb_agg(jsonb_build_object(
                  'version', ${sealed('document_versions', 'v')}, 'document', ${sealed('documents', 'd')},
                  'attachment', ${sealed('document_attachments', 'a')},
                  'home', ${sealed('document_versions', 'h')}) order by d.slug, v.language)
           from document_versions v
           join documents d on d.id = v.document_id
           left join document_attachments a on a.document_id = d.id and a.site_id = s.id and a.detached_at is null
           left join document_versions h on h.id = v.home_version_id
          where v.site_id = s.id and v.state = 'active' and (d.site_id = s.id or a.id is not null)), '[]') as versions
  from sites s
  left join site_configs c on c.sha256 = s.site_config_hash
  left join subscriptions p on p.tenant_id = s.tenant_id
 where s.id = $1`;

/** Terms of a tenant without a subscription, who may not record consents. */
const NO_PLAN = { name: 'none', isActive: false, rateLimitPerMinute: 120, consentQuota: 0 } as const;

/** The site does not exist. */
export class UnknownSite extends Error {
  override readonly name = 'UnknownSite';
}

const RevisionRows = z.array(z.object({ id: z.string(), config_revision: z.int() }));

/**
 * Reads only the revisions of sites, to decide whether the cached sites are current.
 * @returns the revisions by id, without unknown sites
 */
async function loadSiteRevisions(db: Queryable, siteIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query({
    name: 'site_revisions',
    text: 'select id, config_revision from sites where id = any($1::uuid[])',
    values: [siteIds],
  });
  return new Map(RevisionRows.parse(rows).map((row) => [row.id, row.config_revision]));
}

/**
 * Reads a site with its plan, configuration, active versions and keys, from one snapshot.
 * @throws UnknownSite; RequestRefused INVALID_API_KEY if the row was altered (an altered plan or version is only left
 * out); Error if the configuration in force does not match its hash; KeyError
 */
export async function loadSite(db: Queryable, keyring: Keyring, siteId: string): Promise<SiteContext> {
  const { rows } = await db.query({ name: 'site_context', text: SITE_SQL, values: [siteId] });
  const [row] = z.array(SiteRow).parse(rows);
  if (row === undefined) throw new UnknownSite(`There is no site ${siteId}.`);
  const site = await keyring.open(row.site, Site);
  // The keys of such a site grant nothing.
  if (site === null) throw new RequestRefused('INVALID_API_KEY');
  const proofKey = await keyring.proofKey(site.tenant_id);
  const versions = await Promise.all(row.versions.map((version) => activeVersion(keyring, siteId, version)));
  return {
    siteId,
    tenantId: site.tenant_id,
    domain: site.domain,
    isVerified: site.verified_at !== null,
    coversSubdomains: coversSubdomains(site.proof),
    isProofLapsed: isLapsed({ lookedAt: site.proof_looked_at, failingSince: site.proof_failing_since }),
    allowedOrigins: site.allowed_origins,
    allowedIps: site.allowed_ips,
    configRevision: row.config_revision,
    config: configOf(siteId, site.site_config_hash, row.record),
    longestValidityDays: row.validities.reduce(longer, 1),
    plan: await planOf(keyring, row),
    activeVersions: new Map(versions.flatMap((version) => (version === null ? [] : [[version.id, version]]))),
    proofKey: { id: proofKey.id, key: proofKey.key },
    siteKey: await keyring.siteKey(siteId),
  };
}

function configOf(siteId: string, sha256: string | null, record: string | null): SiteContext['config'] {
  if (sha256 === null || record === null) return null;
  if (sha256Hex(record) !== sha256) throw new Error(`the configuration of site ${siteId} does not match its hash`);
  return { sha256, record: parseSiteConfig(record) };
}

/**
 * Returns an active version, or null if its own row, or that of its document or attachment, was altered. A copy of an
 * altered version of the home site also counts as altered, because the row seal of the copy says nothing about the
 * original.
 */
async function activeVersion(
  seals: RowSeals,
  siteId: string,
  row: z.infer<typeof SiteRow>['versions'][number],
): Promise<ActiveVersion | null> {
  const version = await seals.open(row.version, Version);
  const document = await seals.open(row.document, Document);
  if (version === null || document === null) return null;
  if (document.site_id !== siteId) {
    const attachment = row.attachment && (await seals.open(row.attachment, Nothing));
    const home = row.home && (await seals.open(row.home, Text));
    if (attachment === null || home === null || !isDeepStrictEqual(home, Text.parse(version))) return null;
  } else if (row.home !== null) return null;
  return {
    id: version.id,
    documentId: version.document_id,
    slug: document.slug,
    kind: document.kind,
    title: version.title,
    language: version.language,
    number: version.number,
    mediaType: version.media_type,
    contentSha256: version.content_sha256,
    requiresApprovalToken: document.requires_approval_token,
  };
}

async function planOf(seals: RowSeals, row: z.infer<typeof SiteRow>): Promise<SiteContext['plan']> {
  const plan = row.plan && (await seals.open(row.plan, Plan));
  if (plan === null) return NO_PLAN;
  return {
    name: plan.plan,
    isActive: plan.is_active,
    rateLimitPerMinute: plan.rate_limit_per_minute,
    consentQuota: plan.consent_quota,
  };
}
