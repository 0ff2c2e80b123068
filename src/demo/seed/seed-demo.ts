import { randomBytes } from 'node:crypto';
import { createUser } from '../../accounts/users/users.js';
import type { Queryable } from '../../platform/database/pool.js';
import { createApiKey } from '../../tenancy/api-keys/api-keys.js';
import { publishSiteConfig } from '../../tenancy/configuration/publish-site-config.js';
import type { VersionState } from '../../tenancy/documents/document-version.js';
import { createDocument } from '../../tenancy/documents/documents.js';
import { draftVersion } from '../../tenancy/documents/drafts.js';
import { activateVersion, publishVersion } from '../../tenancy/documents/version-states.js';
import { createSite } from '../../tenancy/sites/sites.js';
import { createTenant, PLANS } from '../../tenancy/tenants/tenants.js';
import { DEMO_CONFIG, DEMO_DOCUMENTS, type DemoDocument } from './demo-texts.js';

export interface SeedOptions {
  /** Consents per month. If undefined, the number of the standard plan applies. */
  readonly quota?: number | undefined;
  /** Requests per minute. If undefined, the number of the standard plan applies. */
  readonly rateLimit?: number | undefined;
  readonly hasSubscription: boolean;
  readonly isVerified: boolean;
  readonly allowedOrigins: readonly string[];
  readonly allowedIps: readonly string[];
  /** If undefined, it is chosen at random, so that there may be several. */
  readonly names?: { readonly tenant: string; readonly site: string; readonly domain: string } | undefined;
}

interface Login {
  readonly email: string;
  readonly password: string;
}

interface SeededDocument {
  readonly id: string;
  readonly slug: string;
  readonly kind: string;
  readonly requires_approval_token: boolean;
  readonly versions: readonly {
    readonly id: string;
    readonly language: string;
    readonly number: number;
    readonly state: VersionState;
  }[];
}

/**
 * A demonstration tenant, as `admin seed-demo --json` prints it. Keys and passwords are shown only
 * here.
 */
export interface SeededDemo {
  readonly tenant_id: string;
  readonly site: { readonly id: string; readonly domain: string };
  readonly keys: { readonly read: string; readonly write: string };
  readonly api_user: Login;
  readonly panel_user: Login;
  readonly categories: readonly string[];
  readonly documents: readonly SeededDocument[];
}

/**
 * Creates a demonstration tenant: plan, site, keys, users, configuration, and documents with active
 * and retired versions.
 * @param db a handle in the role `consent_ledger_api`
 * @throws ChangeRefused `invalid` for invalid options
 */
export async function seedDemo(db: Queryable, options: SeedOptions): Promise<SeededDemo> {
  const random = randomBytes(6).toString('hex');
  const {
    names = { tenant: `Demonstration ${random}`, site: 'Demonstration shop', domain: `shop-${random}.example` },
  } = options;
  const { domain } = names;
  const plan = {
    ...PLANS.standard,
    rateLimitPerMinute: options.rateLimit ?? PLANS.standard.rateLimitPerMinute,
    consentQuota: options.quota ?? PLANS.standard.consentQuota,
  };
  const tenant = await createTenant(db, names.tenant, options.hasSubscription ? plan : null);
  const site = await createSite(db, {
    tenantId: tenant.id,
    name: names.site,
    domain,
    isVerified: options.isVerified,
    allowedOrigins: [...options.allowedOrigins],
    allowedIps: [...options.allowedIps],
  });
  await publishSiteConfig(db, site.id, DEMO_CONFIG, { forAnyDomain: true });
  const documents: SeededDocument[] = [];
  for (const document of DEMO_DOCUMENTS) documents.push(await seedDocument(db, site.id, document));
  return {
    tenant_id: tenant.id,
    site: { id: site.id, domain },
    keys: {
      read: (await createApiKey(db, site.id, 'read')).key,
      write: (await createApiKey(db, site.id, 'write')).key,
    },
    api_user: await seedUser(db, tenant.id, `api@${domain}`, 'api_user'),
    panel_user: await seedUser(db, tenant.id, `owner@${domain}`, 'owner'),
    categories: DEMO_CONFIG.categories.map(({ key }) => key),
    documents,
  };
}

async function seedUser(db: Queryable, tenantId: string, email: string, role: 'api_user' | 'owner'): Promise<Login> {
  const password = randomBytes(18).toString('base64url');
  await createUser(db, { tenantId, email, password, role });
  return { email, password };
}

async function seedDocument(db: Queryable, siteId: string, document: DemoDocument): Promise<SeededDocument> {
  const { slug, kind, requiresApprovalToken } = document;
  const { id } = await createDocument(db, { siteId, slug, kind, requiresApprovalToken });
  const versions = [];
  for (const { language, title, content, isActive } of document.versions) {
    const draft = { siteId, documentId: id, language, title, mediaType: 'text/plain', content };
    const version = await draftVersion(db, draft);
    const { number } = await publishVersion(db, siteId, version.id);
    // Activation retires the previous version in the same language.
    await activateVersion(db, siteId, version.id);
    versions.push({ id: version.id, language, number, state: isActive ? ('active' as const) : ('retired' as const) });
  }
  return { id, slug, kind, requires_approval_token: requiresApprovalToken, versions };
}
