import * as z from 'zod';
import { askWitness } from '../pipeline/cosigner/cosigner.js';
import { WitnessFailure } from '../pipeline/cosigner/submit-checkpoint.js';
import { LedgerNotCompared } from '../pipeline/ledger/errors.js';
import { describe } from '../platform/background/part.js';
import { HttpFailure } from '../timestamping/http.js';
import type { Installation } from './installation.js';
import { ledgerHeadFile } from './ledger-files.js';
import { assertAcceptedKept } from './process-memory.js';

const StateRows = z.tuple([z.object({ compared_on: z.string().nullable(), is_empty: z.boolean() })]);

/**
 * Compares the database with everything that this process knows, before it promises anything: the head of the ledger,
 * if it has the file, and what it has done itself. If it does not have the file, a process that does must have made the
 * comparison on this server.
 * @throws LedgerRolledBack, ConsentsLost, LedgerNotCompared, LedgerHeadUnreadable; errors of the database
 *   and of the file system
 */
export async function assertMayPromise(installation: Installation): Promise<void> {
  // This comes first: a known loss needs an operator, not a worker.
  await installation.guard.compare();
  await assertAcceptedKept(installation.workerPool, installation.memory);
  // The guard must not remember anything of a ledger that was not compared.
  if ((await ledgerHeadFile(installation.config).read()) === null) await assertCompared(installation);
  await installation.guard.check();
}

async function assertCompared({ config, workerPool, server }: Installation): Promise<void> {
  const { rows } = await workerPool.query(
    'select compared_on, not exists (select from batches) as is_empty from sealer_state',
  );
  const [{ compared_on: comparedOn, is_empty: isEmpty }] = StateRows.parse(rows);
  if (isEmpty || comparedOn === server.server()) return;
  throw new LedgerNotCompared(server.server(), ledgerHeadFile(config).path);
}

const WITNESS_TIMEOUT_MS = 5_000;

/**
 * Asks every configured witness how far it has cosigned the ledger. A witness that does not answer, or gives an invalid
 * answer, is skipped.
 * @throws LedgerRolledBack, errors of the database
 */
export async function askWitnesses({ config, workerPool, logger }: Installation): Promise<void> {
  const signal = new AbortController().signal;
  await Promise.all(
    config.witnesses.map(async (address) => {
      const witness = { ...address, fetch: globalThis.fetch, timeoutMs: WITNESS_TIMEOUT_MS, now: () => new Date() };
      await askWitness(workerPool, witness, signal).catch((error: unknown) => {
        if (!(error instanceof WitnessFailure || error instanceof HttpFailure)) throw error;
        logger.warn(
          { witness: address.name, reason: describe(error) },
          'a witness did not answer with its latest checkpoint',
        );
      });
    }),
  );
}

/** Tells processes without the file that the ledger was compared on this server. */
export async function recordComparison({ workerPool, server }: Installation): Promise<void> {
  await workerPool.query('update sealer_state set compared_on = $1 where compared_on is distinct from $1', [
    server.server(),
  ]);
}
