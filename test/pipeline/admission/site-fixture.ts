import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { createApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { publishSiteConfig } from '../../../src/tenancy/configuration/publish-site-config.js';
import { createDocument } from '../../../src/tenancy/documents/documents.js';
import { draftVersion } from '../../../src/tenancy/documents/drafts.js';
import { activateVersion, publishVersion } from '../../../src/tenancy/documents/version-states.js';
import { createSite } from '../../../src/tenancy/sites/sites.js';
import { createTenant } from '../../../src/tenancy/tenants/tenants.js';

export interface SiteFixture {
  readonly tenantId: string;
  readonly siteId: string;
  readonly writeKey: string;
  readonly readKey: string;
  /**
   * Active versions: of the cookie policy in two languages, of a form that requires an approval
   * token, and of one that does not.
   */
  readonly versions: {
    readonly cookieEn: string;
    readonly cookieTr: string;
    readonly form: string;
    readonly terms: string;
  };
  readonly formDocumentId: string;
}

export interface SiteFixtureOptions {
  readonly quota?: number | null;
  readonly rateLimit?: number;
  readonly hasSubscription?: boolean;
  readonly hasConfig?: boolean;
  readonly validityDays?: number | null;
}

const BOTH = (en: string, tr: string) => ({ en, tr });

/** Creates a new tenant with a site, as a customer would. */
export async function createSiteFixture(owner: pg.Pool, options: SiteFixtureOptions = {}): Promise<SiteFixture> {
  const { quota = null, rateLimit = 1_000_000, hasSubscription = true, hasConfig = true, validityDays = 365 } = options;
  const plan = { name: 'test', rateLimitPerMinute: rateLimit, consentQuota: quota };
  const { id: tenantId } = await createTenant(owner, 'Example', hasSubscription ? plan : null);
  const { id: siteId } = await createSite(owner, {
    tenantId,
    name: 'Shop',
    domain: `${randomUUID()}.example`,
    isVerified: true,
    allowedOrigins: [],
    allowedIps: [],
  });
  if (hasConfig) await publishSiteConfig(owner, siteId, siteConfig(validityDays));
  const cookie = await createDocument(owner, {
    siteId,
    slug: 'cookies',
    kind: 'cookie_policy',
    requiresApprovalToken: false,
  });
  const form = await createDocument(owner, { siteId, slug: 'form', kind: 'consent_form', requiresApprovalToken: true });
  const terms = await createDocument(owner, { siteId, slug: 'terms', kind: 'terms', requiresApprovalToken: false });
  return {
    tenantId,
    siteId,
    writeKey: (await createApiKey(owner, siteId, 'write')).key,
    readKey: (await createApiKey(owner, siteId, 'read')).key,
    versions: {
      cookieEn: await activeVersion(owner, siteId, cookie.id, 'en'),
      cookieTr: await activeVersion(owner, siteId, cookie.id, 'tr'),
      form: await activeVersion(owner, siteId, form.id, 'en'),
      terms: await activeVersion(owner, siteId, terms.id, 'en'),
    },
    formDocumentId: form.id,
  };
}

/** Drafts, publishes and activates a version. An active version in the same language is retired. */
export async function activeVersion(
  owner: pg.Pool,
  siteId: string,
  documentId: string,
  language: string,
): Promise<string> {
  const version = { siteId, documentId, language, title: 'Text', mediaType: 'text/plain', content: randomUUID() };
  const { id } = await draftVersion(owner, version);
  await publishVersion(owner, siteId, id);
  await activateVersion(owner, siteId, id);
  return id;
}

export function siteConfig(validityDays: number | null): Parameters<typeof publishSiteConfig>[2] {
  const category = (key: string, required: boolean) => ({
    key,
    required,
    title: BOTH(key, key),
    purpose: BOTH('To serve you', 'Size hizmet etmek için'),
    lawful_basis: 'consent' as const,
    personal_data: [],
    recipients: [],
    retention_days: null,
  });
  return {
    controller: { legal_name: 'Example Ltd', contact: 'privacy@example.com' },
    default_language: 'en',
    languages: ['en', 'tr'],
    validity_days: validityDays,
    banner: { en: { title: 'Cookies' }, tr: { title: 'Çerezler' } },
    withdrawal: BOTH('Any time', 'Her zaman'),
    categories: [category('necessary', true), category('analytics', false), category('marketing', false)],
  };
}
