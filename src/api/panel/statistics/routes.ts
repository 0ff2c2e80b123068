import type { PanelRoutesOptions } from '../deps.js';
import { type PanelRoute, reads, readsCompressed } from '../route.js';
import { listAlarms, readConsentStatistics } from './operations.js';
import { alarmsOf } from './show-alarms.js';
import { consentStatistics, periodOf } from './show-statistics.js';

/** Counts and alarms of the user's tenant. */
export function statisticsRoutes({ apiPool, config, keyring }: PanelRoutesOptions): readonly PanelRoute[] {
  return [
    // Days and counts alone.
    readsCompressed(readConsentStatistics, async ({ user, query }) => {
      const period = periodOf(query, new Date());
      return { data: await consentStatistics(apiPool, keyring, user.tenantId, { ...query, ...period }) };
    }),
    reads(listAlarms, async ({ user }) => ({ data: [...(await alarmsOf(apiPool, config, keyring, user.tenantId))] })),
  ];
}
