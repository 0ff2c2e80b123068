import { z } from 'zod';
import { LedgerNotCompared } from '../pipeline/ledger/errors.js';
import type { Installation } from './installation.js';
import { ledgerHeadFile } from './ledger-head-file.js';
import { assertAcceptedKept } from './process-memory.js';

const StateRows = z.tuple([z.object({ compared_on: z.string().nullable(), is_empty: z.boolean() })]);

/**
 * Compares the database with all that this process knows, before it promises anything: the head of the
 * ledger, where it has the file, and what it did itself. Without the file, a process that has it must
 * have compared on this server.
 * @throws LedgerRolledBack, ConsentsLost, LedgerNotCompared, LedgerHeadUnreadable; errors of the database
 *   and of the file system
 */
export async function assertMayPromise({ config, workerPool, guard, memory, server }: Installation): Promise<void> {
  await guard.check();
  await assertAcceptedKept(workerPool, memory);
  const file = ledgerHeadFile(config);
  if ((await file.read()) !== null) return;
  const { rows } = await workerPool.query(
    'select compared_on, not exists (select from batches) as is_empty from sealer_state',
  );
  const [{ compared_on: comparedOn, is_empty: isEmpty }] = StateRows.parse(rows);
  if (!isEmpty && comparedOn !== server.server()) throw new LedgerNotCompared(server.server(), file.path);
}

/** Tells processes without the file that the ledger was compared on this server. */
export async function recordComparison({ workerPool, server }: Installation): Promise<void> {
  await workerPool.query('update sealer_state set compared_on = $1 where compared_on is distinct from $1', [
    server.server(),
  ]);
}
