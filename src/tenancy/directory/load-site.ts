import { z } from 'zod';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
import { parseSiteConfig } from '../../../schemas/events/sealed-event.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors/request-refused.js';
import {
  type Keyring,
  type RowSeals,
  SealColumns,
  SealJson,
  sealColumns,
  sealJson,
} from '../../platform/keys/index.js';
import type { ActiveVersion, SiteContext } from './site-context.js';

const ActiveVersionRow = z.object({
  seal: SealJson,
  documentSeal: SealJson,
  /** Null for a document of the site itself. */
  attachment: z.object({ id: z.string(), seal: SealJson }).nullable(),
  /** The version of the home site that this one repeats; null for a version of the site itself. */
  home: z.object({ id: z.string(), isSame: z.boolean(), seal: SealJson }).nullable(),
  id: z.string(),
  documentId: z.string(),
  slug: z.string(),
  kind: z.string(),
  title: z.string(),
  language: z.string(),
  number: z.int(),
  mediaType: z.string(),
  contentSha256: z.string(),
  requiresApprovalToken: z.boolean(),
});

const SiteRow = SealColumns.extend({
  tenant_id: z.string(),
  domain: z.string(),
  is_verified: z.boolean(),
  allowed_origins: z.array(z.string()),
  allowed_ips: z.array(z.string()),
  config_revision: z.int(),
  site_config_hash: z.string().nullable(),
  record: z.string().nullable(),
  plan: z.string().nullable(),
  is_active: z.boolean().nullable(),
  rate_limit_per_minute: z.int().nullable(),
  consent_quota: z.int().nullable(),
  plan_seal: SealJson,
  versions: z.array(ActiveVersionRow),
});

// One statement, so that all values belong to the same `config_revision`.
const SITE_SQL = `
select s.tenant_id, s.domain, s.verified_at is not null as is_verified, s.allowed_origins, s.allowed_ips::text[] as allowed_ips,
       s.config_revision, ${sealColumns('sites', 's')}, s.site_config_hash, c.record, p.plan, p.is_active, p.rate_limit_per_minute, p.consent_quota,
       ${sealJson('subscriptions', 'p')} as plan_seal,
       coalesce((
         select jsonb_agg(jsonb_build_object(
                  'id', v.id, 'documentId', v.document_id, 'slug', d.slug, 'kind', d.kind, 'title', v.title, 'language', v.language,
                  'number', v.number, 'mediaType', v.media_type, 'contentSha256', v.content_sha256,
                  'requiresApprovalToken', d.requires_approval_token, 'seal', ${sealJson('document_versions', 'v')},
                  'documentSeal', ${sealJson('documents', 'd')},
                  'attachment', case when d.site_id <> s.id then
                     jsonb_build_object('id', a.id, 'seal', ${sealJson('document_attachments', 'a')}) end,
                  'home', case when h.id is not null then jsonb_build_object('id', h.id, 'isSame',
                     (h.document_id, h.language, h.title, h.media_type, h.content_sha256)
                       = (v.document_id, v.language, v.title, v.media_type, v.content_sha256),
                     'seal', ${sealJson('document_versions', 'h')}) end) order by d.slug, v.language)
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

/**
 * Reads only the revision of a site, to decide whether the cached site is current.
 * @returns null for an unknown site
 */
export async function loadSiteRevision(db: Queryable, siteId: string): Promise<number | null> {
  const { rows } = await db.query({
    name: 'site_revision',
    text: 'select config_revision from sites where id = $1',
    values: [siteId],
  });
  return z.array(z.object({ config_revision: z.int() })).parse(rows)[0]?.config_revision ?? null;
}

/**
 * Reads a site with its plan, configuration, active versions and keys, from one snapshot.
 * @throws UnknownSite; RequestRefused INVALID_API_KEY if the row was altered. An altered plan or version is left out; Error if the configuration in force does not match its hash; KeyError
 */
export async function loadSite(db: Queryable, keyring: Keyring, siteId: string): Promise<SiteContext> {
  const { rows } = await db.query({ name: 'site_context', text: SITE_SQL, values: [siteId] });
  const [row] = z.array(SiteRow).parse(rows);
  if (row === undefined) throw new UnknownSite(`There is no site ${siteId}.`);
  // The keys of such a site grant nothing.
  if (!(await keyring.isSealed('sites', siteId, row))) throw new RequestRefused('INVALID_API_KEY');
  const proofKey = await keyring.proofKey(row.tenant_id);
  return {
    siteId,
    tenantId: row.tenant_id,
    domain: row.domain,
    isVerified: row.is_verified,
    allowedOrigins: row.allowed_origins,
    allowedIps: row.allowed_ips,
    configRevision: row.config_revision,
    config: configOf(siteId, row.site_config_hash, row.record),
    plan: await planOf(keyring, row),
    activeVersions: new Map((await sealedVersions(keyring, row)).map((version) => [version.id, version])),
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
async function sealedVersions(seals: RowSeals, { versions }: z.infer<typeof SiteRow>): Promise<ActiveVersion[]> {
  const sealed: ActiveVersion[] = [];
  for (const { seal, documentSeal, attachment, home, ...version } of versions) {
    const isVersion = await seals.isSealed('document_versions', version.id, seal);
    const isDocument = await seals.isSealed('documents', version.documentId, documentSeal);
    const isAttachment =
      attachment === null || (await seals.isSealed('document_attachments', attachment.id, attachment.seal));
    const isCopy =
      home === null
        ? attachment === null
        : home.isSame && (await seals.isSealed('document_versions', home.id, home.seal));
    if (isVersion && isDocument && isAttachment && isCopy) sealed.push(version);
  }
  return sealed;
}

async function planOf(seals: RowSeals, row: z.infer<typeof SiteRow>): Promise<SiteContext['plan']> {
  if (row.plan === null || row.rate_limit_per_minute === null) return NO_PLAN;
  if (!(await seals.isSealed('subscriptions', row.tenant_id, row.plan_seal))) return NO_PLAN;
  return {
    name: row.plan,
    isActive: row.is_active === true,
    rateLimitPerMinute: row.rate_limit_per_minute,
    consentQuota: row.consent_quota,
  };
}
