import type pg from 'pg';
import * as z from 'zod';
import { LEDGER_RESTORED } from '../../../schemas/events/ledger.js';
import { keyLineOf } from '../../../schemas/evidence/signed-note.js';
import { consistencyRanges } from '../../../schemas/merkle/proofs.js';
import {
  type BackgroundPart,
  describe,
  type PartStatus,
  runUnderLease,
  type ServiceLogger,
} from '../../platform/background/part.js';
import { BackOff, pause } from '../../platform/background/waiting.js';
import type { WitnessAddress } from '../../platform/config/index.js';
import type { Queryable } from '../../platform/database/pool.js';
import { NO_TRACING, type Tracing } from '../../platform/telemetry/tracing.js';
import type { Fetch } from '../../timestamping/http.js';
import { readTreeProof } from '../ledger/batch-nodes.js';
import { LedgerRolledBack } from '../ledger/errors.js';
import {
  readNewestCheckpoint,
  readSubmission,
  readWitnessSize,
  type StampedCheckpoint,
  storeCosignatures,
  storeWitnessSize,
  submitCheckpoint,
  type WitnessAnswer,
  type WitnessConnection,
  WitnessFailure,
} from './submit-checkpoint.js';

export interface CosignerOptions {
  /** A handle in the role `consent_ledger_worker`. */
  readonly db: pg.Pool;
  readonly logger: ServiceLogger;
  readonly witnesses: readonly WitnessAddress[];
  /** Interval of the search for a new checkpoint, in milliseconds. */
  readonly pollMs?: number;
  /** Time limit for one request to a witness, in milliseconds; the default is 20 s. */
  readonly timeoutMs?: number;
  /** The pause after the first failure of a witness, which doubles up to the longest. */
  readonly backOff?: { readonly firstMs: number; readonly longestMs: number };
  readonly fetch?: Fetch;
  readonly now?: () => Date;
  readonly tracing?: Tracing;
}

/**
 * Creates the part that submits each stamped checkpoint to the witnesses (C2SP tlog-witness) and stores their
 * cosignatures. It reads what the stamper has stored, so a witness that does not answer delays neither time stamps nor
 * other witnesses.
 */
export function createCosigner(options: CosignerOptions): BackgroundPart {
  return new Cosigner(options);
}

class Cosigner implements BackgroundPart {
  readonly name = 'cosigner';
  #isLeader = false;
  #cosignatures = 0;
  /** Failures since the last success, by the witness's key name. */
  readonly #failures = new Map<string, number>();

  constructor(private readonly options: CosignerOptions) {}

  async run(signal: AbortSignal): Promise<void> {
    const { db, logger } = this.options;
    await runUnderLease({ db, name: this.name, logger, work: (leased) => this.#work(leased) }, signal);
  }

  status(): PartStatus {
    const failures = [...this.#failures.values()];
    return {
      leader: this.#isLeader,
      cosignatures: this.#cosignatures,
      witnesses_failing: failures.filter((count) => count > 0).length,
      failures_in_a_row: Math.max(0, ...failures),
    };
  }

  async #work(signal: AbortSignal): Promise<void> {
    this.#isLeader = true;
    try {
      await Promise.all(this.options.witnesses.map((witness) => this.#serve(witness, signal)));
    } finally {
      this.#isLeader = false;
    }
  }

  async #serve(witness: WitnessAddress, signal: AbortSignal): Promise<void> {
    const { logger, pollMs = 1_000, backOff: limits = { firstMs: 1_000, longestMs: 60_000 } } = this.options;
    const { name } = witness;
    const backOff = new BackOff(limits.firstMs, limits.longestMs);
    while (!signal.aborted) {
      let waitMs = pollMs;
      try {
        await this.#ask(witness, signal);
        this.#failures.set(name, 0);
        backOff.reset();
      } catch (error) {
        if (signal.aborted) break;
        this.#failures.set(name, (this.#failures.get(name) ?? 0) + 1);
        waitMs = backOff.next();
        logger.warn(
          { part: this.name, witness: name, reason: describe(error) },
          'no cosignature obtained; trying again',
        );
      }
      await pause(waitMs, signal);
    }
  }

  async #ask(witness: WitnessAddress, signal: AbortSignal): Promise<void> {
    const { db, logger, fetch = globalThis.fetch, timeoutMs = 20_000, now = () => new Date() } = this.options;
    const { tracing = NO_TRACING } = this.options;
    const traced: Fetch = (url, init) =>
      tracing.span('witness request', { 'server.address': new URL(witness.url).host }, () => fetch(url, init), {
        kind: 'client',
      });
    const sizes = await cosignNewest(db, { ...witness, fetch: traced, timeoutMs, now }, signal);
    this.#cosignatures += sizes.length;
    for (const size of sizes) {
      logger.info({ part: this.name, witness: witness.name, ledger_size: size }, 'checkpoint cosigned');
    }
  }
}

/** Number of sizes that a witness may name in a row (409) before this counts as a failure. */
const MAX_CORRECTIONS = 3;

/**
 * Obtains a cosignature over the newest stamped checkpoint.
 * @param db a handle in the role `consent_ledger_worker`
 * @returns the sizes that the witness cosigned, smallest first; an empty list if nothing was due
 * @throws WitnessFailure, HttpFailure
 */
async function cosignNewest(
  db: Queryable,
  witness: WitnessConnection,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const { name } = witness;
  const keys = witness.keys.map(keyLineOf);
  const cosigned: number[] = [];
  for (let corrections = 0; ; ) {
    const size = await readWitnessSize(db, name);
    const next = await readSubmission(db, keys);
    if (next === null) return cosigned;
    // If the witness is ahead of this ledger, it is asked from the checkpoint's own size and answers with its size.
    const answer = await submitFrom(db, witness, next, Math.min(size, next.size), signal);
    if (answer.outcome === 'cosigned') {
      await storeCosignatures(db, name, next.size, answer.cosignatures);
      cosigned.push(next.size);
    } else if (answer.outcome === 'unknown-key') {
      throw new WitnessFailure(
        'does not know the key of this ledger (HTTP 403): ask its operator to add the lines of /checkpoints/ledger.vkey',
      );
    } else if (answer.outcome === 'other-root') {
      throw new WitnessFailure('has cosigned a ledger that this one does not continue (HTTP 422)');
    } else {
      await adopt(db, name, answer.size, next.size);
      corrections += 1;
      if (corrections > MAX_CORRECTIONS) throw new WitnessFailure('names another size each time it is asked');
    }
  }
}

/** Submits a checkpoint with the proof from a smaller size. */
async function submitFrom(
  db: Queryable,
  witness: WitnessConnection,
  checkpoint: StampedCheckpoint,
  oldSize: number,
  signal: AbortSignal,
): Promise<WitnessAnswer> {
  const proof = await readTreeProof(db, consistencyRanges(oldSize, checkpoint.size));
  if (proof === null) throw new Error('a node of the ledger tree is missing');
  return submitCheckpoint(witness, checkpoint, { oldSize, proof }, signal);
}

async function adopt(db: Queryable, name: string, size: number, newest: number): Promise<void> {
  if (size > newest) {
    throw new WitnessFailure(
      `has cosigned ${size} batches, and this ledger has ${newest} in its newest checkpoint: was the ledger restored from a backup?`,
    );
  }
  await storeWitnessSize(db, name, size);
}

/** Number of sizes that a witness may name in a row (409). */
const MAX_QUESTIONS = 3;

/**
 * Asks a witness how far it has cosigned this ledger, by submitting the newest stamped checkpoint. This matters if the
 * file with the head was lost together with the database. Nothing new is signed for it.
 * @param db a handle in the role `consent_ledger_worker`
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

/** Returns the largest size whose loss an operator has accepted; 0 if none. */
async function readAcceptedSize(db: Queryable): Promise<number> {
  const { rows } = await db.query(
    `select coalesce(max((convert_from(body, 'UTF8')::jsonb -> 'head' ->> 'size')::bigint), 0) as size
       from ledger_events where type = $1`,
    [LEDGER_RESTORED],
  );
  return SizeRows.parse(rows)[0].size;
}
