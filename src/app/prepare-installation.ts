import { PROJECTIONS } from '../../projections/index.js';
import { applyErasures, openErasureJournal } from '../erasure/index.js';
import { EventLogUnavailable, LogDamaged } from '../pipeline/event-log/errors.js';
import { catchUpLedger } from '../pipeline/ledger/apply-ledger.js';
import { prepareProjections } from '../pipeline/projector/index.js';
import { assertLogWhole } from '../pipeline/relay/log-check.js';
import { describe } from '../platform/background/part.js';
import { BackOff, pause } from '../platform/background/waiting.js';
import type { ReadinessReason } from '../platform/health.js';
import { bindEventLog } from './bind-event-log.js';
import { askWitnesses, recordComparison } from './compare-history.js';
import type { Installation } from './installation.js';
import { logDamaged } from './keep-running.js';

/**
 * Establishes the preconditions of serving requests. The read models exist. The log belongs to this
 * database and is complete. Erased data is erased, also after a restore.
 * @param seals whether this process seals: only such a process compares the ledger in the event log with
 *   its head; others compare before (`assertMayPromise`)
 * @throws LogIdentityMismatch, LogBehind, LedgerRolledBack, LedgerHeadMissing, LedgerHeadUnreadable,
 *   EventLogUnavailable, JournalUnavailable
 */
export async function prepareInstallation(
  installation: Installation,
  { seals }: { readonly seals: boolean },
): Promise<void> {
  const { workerPool, projectionsPool, eventLog, config, logger } = installation;
  await prepareProjections(projectionsPool, PROJECTIONS);
  await bindEventLog(workerPool, eventLog);
  await assertLogWhole(workerPool, eventLog, { logger });
  if (seals) {
    await catchUpLedger(workerPool, eventLog);
    await installation.guard.check();
    await askWitnesses(installation);
    await recordComparison(installation);
  }
  const journal = openErasureJournal(config.erasureJournal);
  const applied = await applyErasures({ db: workerPool, eventLog, journal });
  if (applied.fromLog + applied.fromJournal > 0) {
    logger.warn({ ...applied }, 'the database was restored from a backup: erasures since then were applied again');
  }
}

export interface LogWait {
  /** Whether this process seals: see `prepareInstallation`. */
  readonly seals: boolean;
  /** Called when an attempt fails, with the reason for `/readyz`. */
  readonly onWaiting: (reasons: readonly ReadinessReason[]) => void;
  /** Whether another failure passes as well, so that the next attempt may succeed; absent: none does. */
  readonly isPassing?: (error: unknown) => boolean;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/**
 * Prepares the installation and then runs `work`, both again as long as the log does not answer or is
 * damaged: neither must end admission, which does not depend on the log.
 * @returns the result of `work`; null if the wait was ended
 * @throws the errors of `prepareInstallation` and of `work`, except EventLogUnavailable, LogDamaged and
 *   those that pass
 */
export async function whenLogAnswers<T>(
  installation: Installation,
  { seals, onWaiting, isPassing = () => false, signal }: LogWait,
  work: () => Promise<T>,
): Promise<T | null> {
  const backOff = new BackOff();
  const operatorsTime = new BackOff(1_000, 30_000);
  while (!signal.aborted) {
    try {
      await prepareInstallation(installation, { seals });
      return await work();
    } catch (error) {
      if (error instanceof LogDamaged) {
        installation.logger.error({ reason: describe(error) }, 'the event log is damaged: an operator must act');
        onWaiting(logDamaged(error));
        await pause(operatorsTime.next(), signal);
        continue;
      }
      const isAway = error instanceof EventLogUnavailable;
      if (!isAway && !isPassing(error)) throw error;
      const found = isAway ? 'the event log does not answer' : 'the event log could not be checked';
      installation.logger.warn({ reason: describe(error) }, `${found}; trying again`);
      onWaiting([{ code: 'log_away' }]);
    }
    await pause(backOff.next(), signal);
  }
  return null;
}
