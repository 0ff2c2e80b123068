import { pruneSignIns } from '../accounts/sign-in/sign-ins.js';
import { MAINTENANCE_INTERVAL_MS, maintainAdmission } from '../pipeline/admission/maintenance.js';
import { type BackgroundPart, describe, type ServiceLogger } from '../platform/background/part.js';
import { pause } from '../platform/background/waiting.js';
import type { Queryable } from '../platform/database/pool.js';
import { pruneDeliveries } from '../tenancy/webhooks/deliveries.js';

export interface MaintenanceOptions {
  /** As `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly logger: ServiceLogger;
  readonly everyMs?: number;
}

/** Runs admission's maintenance, and that of sign-ins and deliveries, regularly. Any number may run; one that fails is tried again at the next interval. */
export function createMaintenance({
  db,
  logger,
  everyMs = MAINTENANCE_INTERVAL_MS,
}: MaintenanceOptions): BackgroundPart {
  let runs = 0;
  let failures = 0;
  return {
    name: 'maintenance',
    status: () => ({ runs, failures }),
    run: async (signal) => {
      while (!signal.aborted) {
        try {
          await maintainAdmission(db);
          await pruneSignIns(db);
          await pruneDeliveries(db);
          runs += 1;
        } catch (error) {
          failures += 1;
          logger.warn({ part: 'maintenance', reason: describe(error) }, 'failed; trying again');
        }
        await pause(everyMs, signal);
      }
    },
  };
}
