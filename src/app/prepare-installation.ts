import * as z from 'zod';
import { PROJECTIONS } from '../../projections/index.js';
import { applyErasures, openErasureJournal } from '../erasure/index.js';
import { EventLogUnavailable, LogDamaged } from '../pipeline/event-log/errors.js';
import { ensureLogIdentity } from '../pipeline/event-log/log-identity.js';
import type { EventLog } from '../pipeline/event-log/port.js';
import { catchUpLedger } from '../pipeline/ledger/apply-ledger.js';
import { prepareProjections } from '../pipeline/projector/index.js';
import { assertLogWhole } from '../pipeline/relay/log-check.js';
import { type BackgroundPart, describe, type ServiceLogger } from '../platform/background/part.js';
import { BackOff, pause } from '../platform/background/waiting.js';
import type { Queryable } from '../platform/database/pool.js';
import type { ReadinessReason } from '../platform/health.js';
import { askWitnesses, recordComparison } from './compare-history.js';
import type { Installation } from './installation.js';

/**
 * Establishes the preconditions of serving requests. The read models exist. The log belongs to this database and is
 * complete. Erased data is erased even after a restore.
 * @param seals whether this process seals: only such a process compares the ledger in the event log with its head;
 *   others have compared already (`assertMayPromise`)
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
  /**
   * Whether a failure other than these is temporary, so that the next attempt may succeed. If absent, no other failure
   * is.
   */
  readonly isPassing?: (error: unknown) => boolean;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/**
 * Prepares the installation, then runs `work`. Both are repeated while the log does not answer or is damaged, because
 * neither may end admission, which does not depend on the log.
 * @returns the result of `work`, or null if the wait was ended
 * @throws the errors of `prepareInstallation` and of `work`, except EventLogUnavailable, LogDamaged and those that are
 *   temporary
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

export interface KeepOptions {
  readonly logger: ServiceLogger;
  /** First pause, in milliseconds, before a part that met a damaged log runs again. It doubles up to a limit. */
  readonly firstPauseMs?: number;
  readonly longestPauseMs?: number;
  /** Milliseconds that a run must last for the earlier damage to count as repaired. */
  readonly steadyMs?: number;
}

/** Returns the reason for `/readyz` while a damaged log waits for an operator. */
function logDamaged({ name }: LogDamaged): readonly ReadinessReason[] {
  return [{ code: 'log_damaged', names: [name] }];
}

/**
 * Returns a part that waits while the log is damaged and tries again from time to time, so that it resumes by itself
 * after the repair. The other parts keep running: a damaged log does not end the process.
 */
export function keepRunning(part: BackgroundPart, options: KeepOptions): BackgroundPart {
  const { logger, firstPauseMs = 1_000, longestPauseMs = 30_000, steadyMs = 5_000 } = options;
  let damage: LogDamaged | null = null;
  const run = async (signal: AbortSignal): Promise<void> => {
    const backOff = new BackOff(firstPauseMs, longestPauseMs);
    while (!signal.aborted) {
      const repaired = setTimeout(() => {
        damage = null;
        backOff.reset();
      }, steadyMs);
      try {
        return await part.run(signal);
      } catch (error) {
        if (!(error instanceof LogDamaged)) throw error;
        damage = error;
        logger.error(
          { part: part.name, reason: describe(error) },
          'this part stopped until an operator acts; the other parts keep running',
        );
      } finally {
        clearTimeout(repaired);
      }
      await pause(backOff.next(), signal);
    }
  };
  return {
    name: part.name,
    run,
    status: () => part.status(),
    reasons: () => [...(part.reasons?.() ?? []), ...(damage === null ? [] : logDamaged(damage))],
  };
}

const identityRows = z.array(z.object({ log_id: z.string() })).max(1);

/**
 * Checks that the log belongs to this database. The first start binds the two to each other.
 * @param db a handle in the role `consent_ledger_worker`
 * @throws LogIdentityMismatch, EventLogUnavailable
 */
export async function bindEventLog(db: Queryable, eventLog: EventLog): Promise<void> {
  const { rows } = await db.query('select log_id from event_log_identity');
  const [stored] = identityRows.parse(rows);
  const identity = await ensureLogIdentity(eventLog, stored?.log_id ?? null);
  await db.query('insert into event_log_identity (log_id) values ($1) on conflict do nothing', [identity]);
}
