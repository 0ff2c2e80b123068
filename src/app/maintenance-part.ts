import { pruneSignIns } from '../accounts/sign-in/prune.js';
import { keepUp, UPKEEP_INTERVAL_MS } from '../pipeline/admission/upkeep.js';
import type { BackgroundPart, ServiceLogger } from '../platform/background/part.js';
import { describe } from '../platform/background/run-under-lease.js';
import { pause } from '../platform/background/waiting.js';
import type { Queryable } from '../platform/database/pool.js';

export interface UpkeepOptions {
  /** In the role `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly logger: ServiceLogger;
  readonly everyMs?: number;
}

/**
 * Creates the part for the periodic maintenance of admission and sign-ins. Several processes may
 * run it; a failure is retried at the next interval.
 */
export function createUpkeep({ db, logger, everyMs = UPKEEP_INTERVAL_MS }: UpkeepOptions): BackgroundPart {
  let runs = 0;
  let failures = 0;
  return {
    name: 'upkeep',
    status: () => ({ runs, failures }),
    run: async (signal) => {
      while (!signal.aborted) {
        try {
          await keepUp(db);
          await pruneSignIns(db);
          runs += 1;
        } catch (error) {
          failures += 1;
          logger.warn({ part: 'upkeep', reason: describe(error) }, 'failed; trying again');
        }
        await pause(everyMs, signal);
      }
    },
  };
}
