import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
import { parseSiteConfig } from '../../../schemas/events/sealed-event.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import { type Keyring, type RowSeals, sealed, sealedRow } from '../../platform/keys/index.js';
import type { ActiveVersion, SiteContext } from './site-context.js';

const SiteRow = z.object({
  site: sealedRow('sites'),
  config_revision: z.int(),
  record: z.string().nullable(),
  plan: sealedRow('subscriptions').nullable(),
  versions: z.array(
    z.object({
      version: sealedRow('document_versions'),
      document: sealedRow('documents'),
      /** Null for a document of the site itself. */
      attachment: sealedRow('document_attachments').nullable(),
      /** The version of the home site that this one repeats; null for a version of the site itself. */
      home: sealedRow('document_versions').nullable(),
    }),
  ),
});

const Site = z.object({
  tenant_id: z.string(),
  domain: z.string(),
  verified_at: z.string().nullable(),
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

// One statement, so that all values belong to the same `config_revision`.
const SITE_SQL = `
select ${sealed('sites', 's')} as site, s.config_revision, c.record, ${sealed('subscriptions', 'p')} as plan,
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

/** Terms of a tenant without a subscription: no consent may be recorded. */
const NO_PLAN = { name: 'none', isActive: false, rateLimitPerMinute: 120, consentQuota: 0 } as const;

/** The site does not exist. */
export class UnknownSite extends Error {
  override readonly name = 'UnknownSite';
}

const RevisionRows = z.array(z.object({ id: z.string(), config_revision: z.int() }));

/**
 * Reads only the revisions of sites, to decide whether the cached sites are current.
 * @returns by id, without unknown sites
 */
export async function loadSiteRevisions(
  db: Queryable,
  siteIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query({
    name: 'site_revisions',
    text: 'select id, config_revision from sites where id = any($1::uuid[])',
    values: [siteIds],
  });
  return new Map(RevisionRows.parse(rows).map((row) => [row.id, row.config_revision]));
}

/**
 * Reads a site with its plan, configuration, active versions and keys, from one snapshot.
 * @throws UnknownSite; RequestRefused INVALID_API_KEY if the row was altered. An altered plan or version is left out; Error if the configuration in force does not match its hash; KeyError
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
    allowedOrigins: site.allowed_origins,
    allowedIps: site.allowed_ips,
    configRevision: row.config_revision,
    config: configOf(siteId, site.site_config_hash, row.record),
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
 * A version whose row was altered, or that of its document or attachment, is not active. Nor is a copy
 * of an altered version of the home site: the service sealed the copy without that seal.
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
