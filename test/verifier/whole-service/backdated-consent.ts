import { vi } from 'vitest';
import { recordManyConsents } from '../../support/recorded-consents.js';
import type { Caller, OperatedInstallation } from './installation.js';

/**
 * Puts a consent with an earlier time into the outbox: complete, with an event id of that time, and
 * with a proof hash by the real key of the tenant.
 * @param ms how much earlier
 */
export async function insertBackdated(operator: OperatedInstallation, { seed, versionId }: Caller, ms: number) {
  const sites = { tenantId: seed.tenant_id, siteIds: [seed.site.id], documentVersionId: versionId };
  await operator.withKeys(async (keyring, db) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - ms });
    try {
      await recordManyConsents(db, keyring, sites, 1);
    } finally {
      vi.useRealTimers();
    }
  });
}
