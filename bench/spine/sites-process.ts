import { createSecretKey, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { z } from 'zod';
import { createPool } from '../../src/platform/database/pool.js';
import { createKeyring } from '../../src/platform/keys/index.js';
import { createApiKey } from '../../src/tenancy/api-keys/api-keys.js';
import { publishSiteConfig } from '../../src/tenancy/configuration/publish-site-config.js';
import { createDocument } from '../../src/tenancy/documents/create-document.js';
import { createSite } from '../../src/tenancy/sites/create-site.js';
import { createTenant } from '../../src/tenancy/tenants/create-tenant.js';
import { activeVersion } from '../../test/pipeline/admission/site-fixture.js';

// Makes sites in a database, and sends them to its parent process. built-version.ts bundles this file
// with the code of the version that is measured: each version seals and records its sites in its own
// way. The panel API would take an hour for a thousand sites, because it limits the requests of a user.
const AT_ONCE = 3;

const Settings = z.object({
  databaseUrl: z.string(),
  masterKey: z.string().transform((text) => Buffer.from(text, 'base64')),
  sites: z.int(),
});
const { databaseUrl, masterKey, sites } = Settings.parse(JSON.parse(process.argv[2] ?? 'null'));

const options = {
  url: databaseUrl,
  applicationName: 'consent-ledger bench sites',
  maxConnections: AT_ONCE,
  statementTimeoutMs: 60_000,
  onIdleError: (error: Error) => console.error(error),
};
const keyPool = createPool(options);
const keyring = await createKeyring(keyPool, createSecretKey(masterKey));
// The service trusts no site and no key without its seal.
const pool = createPool({ ...options, transactions: keyring.sealing });
const made: Awaited<ReturnType<typeof makeSite>>[] = [];
let left = sites;
const make = async (): Promise<void> => {
  for (; left > 0; ) {
    left -= 1;
    made.push(await makeSite(pool));
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, make));
await Promise.all([pool.end(), keyPool.end()]);
process.send?.(made, () => process.disconnect());

/** A tenant with one site, which has no more than a cookie banner needs. */
async function makeSite(owner: pg.Pool) {
  const plan = { name: 'bench', rateLimitPerMinute: 1_000_000, consentQuota: null };
  const { id: tenantId } = await createTenant(owner, 'Example', plan);
  const domain = `${randomUUID()}.example`;
  const shop = { tenantId, name: 'Shop', domain, isVerified: true, allowedOrigins: [], allowedIps: [] };
  const { id: siteId } = await createSite(owner, shop);
  const category = (key: string) => ({
    key,
    required: key === 'necessary',
    title: { en: key },
    purpose: { en: 'To serve you' },
    lawful_basis: 'consent' as const,
    personal_data: [],
    recipients: [],
    retention_days: null,
  });
  await publishSiteConfig(owner, siteId, {
    controller: { legal_name: 'Example Ltd', contact: 'privacy@example.com' },
    default_language: 'en',
    languages: ['en'],
    validity_days: 365,
    banner: { en: { title: 'Cookies' } },
    withdrawal: { en: 'Any time' },
    categories: ['necessary', 'analytics', 'marketing'].map(category),
  });
  const policy = { siteId, slug: 'cookies', kind: 'cookie_policy', requiresApprovalToken: false } as const;
  const { id: documentId } = await createDocument(owner, policy);
  return {
    siteId,
    writeKey: (await createApiKey(owner, siteId, 'write')).key,
    readKey: (await createApiKey(owner, siteId, 'read')).key,
    versions: { cookieEn: await activeVersion(owner, siteId, documentId, 'en') },
  };
}
