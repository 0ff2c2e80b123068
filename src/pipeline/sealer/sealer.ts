import type pg from 'pg';
import { isSealedStream } from '../../../schemas/events/streams.js';
import type { BackgroundPart, Log, PartStatus } from '../../platform/background/part.js';
import { runUnderLease } from '../../platform/background/run-under-lease.js';
import { pause } from '../../platform/background/waiting.js';
import type { SealingClock } from '../../platform/clock/trusted-clock.js';
import { assertGenuine, NotGenuine, type ProofKeys } from '../../platform/keys/index.js';
import { NO_TRACING, type Tracing } from '../../platform/telemetry/tracing.js';
import { LogDiverged } from '../event-log/errors.js';
import type { EventLog, LoggedEvent } from '../event-log/port.js';
import { catchUpLedger } from '../ledger/apply-ledger.js';
import { Unsealable } from '../ledger/errors.js';
import type { LedgerSigner } from '../ledger/ledger-signer.js';
import { type LedgerState, readStreamHeads } from '../ledger/ledger-state.js';
import { ensureKeyPublished } from '../ledger/publish-key.js';
import { type BatchLimits, PendingBatch } from './pending-batch.js';
import { sealBatch } from './seal.js';

export interface SealerOptions {
  /** As `consent_ledger_worker`. */
  readonly pool: pg.Pool;
  readonly log: EventLog;
  readonly keyring: ProofKeys;
  readonly logger: Log;
  readonly signer: LedgerSigner;
  readonly limits: BatchLimits;
  /** How often new events are looked for when there are none, in milliseconds. */
  readonly pollMs?: number;
  /** Called after each batch: the stamper need not wait for its next look. */
  readonly onSealed?: () => void;
  /** Called with the ledger's state after each batch, to be remembered outside the database. */
  readonly rememberHead?: (state: LedgerState) => Promise<void>;
  readonly now?: () => Date;
  /** By which batches are sealed; else `now`. */
  readonly sealingClock?: SealingClock;
  readonly tracing?: Tracing;
}

/** Most leaves of a batch: its runs must fit into one append, even if no two neighbours are of one stream. */
export const MAX_BATCH_LEAVES = 8_000;
const PAGE = 500;

/** Seals the events of sites into batches (docs/architecture.md, “The stages”). Any number may run; the ledger's expected revision lets one win each time. */
export function createSealer(options: SealerOptions): BackgroundPart {
  return new Sealer(options);
}

class Sealer implements BackgroundPart {
  readonly name = 'sealer';
  readonly #limits: BatchLimits;
  readonly #now: () => Date;
  #isLeader = false;
  #sealedBatches = 0;
  #sealedLeaves = 0;
  #size: number | null = null;
  #pendingLeaves = 0;

  constructor(private readonly options: SealerOptions) {
    const { maxLeaves, maxAgeMs } = options.limits;
    if (!(maxLeaves >= 1 && maxLeaves <= MAX_BATCH_LEAVES)) {
      throw new RangeError(`a batch has 1 to ${MAX_BATCH_LEAVES} leaves, not ${maxLeaves}`);
    }
    this.#limits = { maxLeaves, maxAgeMs };
    this.#now = options.now ?? (() => new Date());
  }

  async run(signal: AbortSignal): Promise<void> {
    const { pool, logger } = this.options;
    await runUnderLease({ pool, name: this.name, log: logger, work: (leased) => this.#work(leased) }, signal);
  }

  status(): PartStatus {
    return {
      leader: this.#isLeader,
      sealed_batches: this.#sealedBatches,
      sealed_events: this.#sealedLeaves,
      pending_events: this.#pendingLeaves,
      ledger_size: this.#size,
    };
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { pool, log, signer, pollMs = 200 } = this.options;
    let state = await ensureKeyPublished(pool, log, signer, this.#now);
    let pending = new PendingBatch(state.logPosition);
    this.#isLeader = true;
    try {
      while (!signal.aborted) {
        const outcome = await this.#gather(pending);
        if (outcome === 'gap') {
          pending = new PendingBatch(null);
          continue;
        }
        if (pending.isDue(this.#limits, performance.now())) {
          const next = await this.#seal(state, pending);
          // Unless only the stamper was faster, what is sealed is in the tables now, and gathering goes on behind it.
          if (next.size !== state.size) pending = new PendingBatch(next.logPosition);
          state = next;
        } else if (outcome === 'at-end') {
          await pause(pollMs, signal);
        }
        this.#pendingLeaves = pending.leaves.length;
      }
    } finally {
      this.#isLeader = false;
    }
  }

  /**
   * Reads on in the log, no further than the batch has room.
   * @returns `gap` if the events before the ones read are missing in the batch: then gathering must begin at the log's start
   * @throws LogDiverged if they are not in the log at all; Unsealable
   */
  async #gather(pending: PendingBatch): Promise<'at-end' | 'more' | 'gap'> {
    const { pool, log, logger } = this.options;
    const room = pending.room(this.#limits);
    if (room <= 0) return 'more';
    const page = await log.readAll(pending.position, Math.min(room, PAGE));
    const events = page.events.filter((event) => isSealedStream(event.stream));
    const unknown = [...new Set(events.map((event) => event.stream))].filter((stream) => !pending.heads.has(stream));
    for (const [stream, head] of await readStreamHeads(pool, unknown)) pending.heads.set(stream, head);
    const now = performance.now();
    for (const event of events) {
      if (event.revision > pending.heads.get(event.stream).revision) await this.#assertGenuine(event);
      if (pending.add(event, now)) continue;
      if (pending.start === null) throw new LogDiverged(event.stream, event.revision, 'the event before it is missing');
      logger.warn(
        { part: this.name, stream: event.stream, revision: event.revision },
        'events were skipped; reading again',
      );
      return 'gap';
    }
    pending.position = page.next;
    return page.atEnd ? 'at-end' : 'more';
  }

  /** An event that was appended past the relay, or altered in the log: no batch may hold it. @throws Unsealable */
  async #assertGenuine(event: LoggedEvent): Promise<void> {
    try {
      await assertGenuine(event, this.options.keyring);
    } catch (error) {
      if (!(error instanceof NotGenuine)) throw error;
      throw new Unsealable(`${event.stream}, revision ${event.revision}: ${error.message}`, { cause: error });
    }
  }

  /** Seals what is gathered, unless another sealer got there first. @returns the ledger's state after */
  async #seal(before: LedgerState, pending: PendingBatch): Promise<LedgerState> {
    const { pool, log, logger, onSealed, rememberHead, tracing = NO_TRACING } = this.options;
    const current = await catchUpLedger(pool, log);
    if (current.size !== before.size) return current;
    const content = { leaves: pending.leaves, logPosition: pending.position };
    const time = await (this.options.sealingClock ?? this.#now)();
    const { state, sealed } = await tracing.span('seal batch', { 'consent_ledger.events': pending.leaves.length }, () =>
      sealBatch(pool, log, current, content, time),
    );
    this.#size = state.size;
    if (!sealed) return state;
    await rememberHead?.(state);
    this.#sealedBatches += 1;
    this.#sealedLeaves += pending.leaves.length;
    logger.info({ part: this.name, ledger_size: state.size, events: pending.leaves.length }, 'Merkle batch sealed');
    onSealed?.();
    return state;
  }
}
