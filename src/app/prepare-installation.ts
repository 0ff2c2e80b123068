import { PROJECTIONS } from '../../projections/index.js';
import { applyErasures, openErasureJournal } from '../erasure/index.js';
import { assertLedgerNotRolledBack } from '../pipeline/ledger/ledger-head.js';
import { prepareProjections } from '../pipeline/projector/index.js';
import { assertLogNotBehind } from '../pipeline/relay/log-check.js';
import { bindEventLog } from './bind-event-log.js';
import type { Installation } from './installation.js';
import { ledgerHeadFile } from './ledger-head-file.js';

/**
 * Establishes the preconditions of serving requests. The read models exist. The log belongs to this
 * database and is complete. Erased data is erased, also after a restore.
 * @param seals whether this process seals: only such a process stores the ledger's head
 * @throws LogIdentityMismatch, LogBehind, LedgerRolledBack, EventLogUnavailable, JournalUnavailable
 */
export async function prepareInstallation(
  installation: Installation,
  { seals }: { readonly seals: boolean },
): Promise<void> {
  const { workerPool, projectionsPool, eventLog, config, logger } = installation;
  await prepareProjections(projectionsPool, PROJECTIONS);
  await bindEventLog(workerPool, eventLog);
  await assertLogNotBehind(workerPool, eventLog);
  if (seals) await assertLedgerNotRolledBack(workerPool, eventLog, ledgerHeadFile(config));
  const journal = openErasureJournal(config.erasureJournal);
  const applied = await applyErasures({ db: workerPool, eventLog, journal });
  if (applied.fromLog + applied.fromJournal > 0) {
    logger.warn({ ...applied }, 'the database was restored from a backup: erasures since then were applied again');
  }
}
