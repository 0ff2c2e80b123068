import * as z from 'zod';
import { LEDGER_RESTORED } from '../../../schemas/events/ledger.js';
import type { Queryable } from '../../platform/database/pool.js';
import { LedgerRolledBack } from '../ledger/errors.js';
import { submitFrom } from './cosign-newest.js';
import { type WitnessConnection, WitnessFailure } from './submit-checkpoint.js';
import { readNewestCheckpoint, readWitnessSize, storeCosignatures } from './witness-store.js';

/** Most sizes that a witness may name in a row (409). */
const MAX_QUESTIONS = 3;

/**
 * Asks a witness how far it has cosigned this ledger, by submitting the newest stamped checkpoint: the
 * file with the head may have been lost together with the database. Nothing new is signed for it.
 * @param db in the role `consent_ledger_worker`
 * @throws LedgerRolledBack if the witness cosigned more, or another tree, unless an operator accepted
 *   that the ledger lost its end
 * @throws WitnessFailure, HttpFailure
 */
export async function askWitness(db: Queryable, witness: WitnessConnection, signal: AbortSignal): Promise<void> {
  const newest = await readNewestCheckpoint(db);
  if (newest === null) return;
  const { name } = witness;
  let size = Math.min(await readWitnessSize(db, name), newest.size);
  const refuse = async (known: number): Promise<void> => {
    if (known <= (await readAcceptedSize(db))) return;
    throw new LedgerRolledBack(known, newest.size, `witness ${name}`);
  };
  for (let questions = 0; questions < MAX_QUESTIONS; questions += 1) {
    const answer = await submitFrom(db, witness, newest, size, signal);
    if (answer.outcome === 'unknown-key') return;
    if (answer.outcome === 'cosigned') return storeCosignatures(db, name, newest.size, answer.cosignatures);
    if (answer.outcome === 'other-root') return refuse(size);
    if (answer.size > newest.size) {
      // Another worker may have stamped and submitted a checkpoint meanwhile.
      const now = await readNewestCheckpoint(db);
      return answer.size > (now?.size ?? 0) ? refuse(answer.size) : undefined;
    }
    if (answer.size === size) return refuse(size);
    size = answer.size;
  }
  throw new WitnessFailure('names another size each time it is asked');
}

const SizeRows = z.tuple([z.object({ size: z.int() })]);

/** The largest size whose loss an operator has accepted; 0: none. */
async function readAcceptedSize(db: Queryable): Promise<number> {
  const { rows } = await db.query(
    `select coalesce(max((convert_from(body, 'UTF8')::jsonb -> 'head' ->> 'size')::bigint), 0) as size
       from ledger_events where type = $1`,
    [LEDGER_RESTORED],
  );
  return SizeRows.parse(rows)[0].size;
}
