import type pg from 'pg';
import type { BackgroundPart, Log, PartStatus } from '../../platform/background/part.js';
import { OperatorNeeded } from '../../platform/background/part.js';
import { describe, runUnderLease } from '../../platform/background/run-under-lease.js';
import { BackOff, pause } from '../../platform/background/waiting.js';
import { WakeUp } from '../../platform/background/wake-up.js';
import type { SealingClock } from '../../platform/clock/trusted-clock.js';
import { NO_TRACING, type Tracing } from '../../platform/telemetry/tracing.js';
import type { TimestampClient } from '../../timestamping/client.js';
import type { EventLog } from '../event-log/port.js';
import { catchUpLedger } from '../ledger/apply-ledger.js';
import type { LedgerSigner } from '../ledger/ledger-signer.js';
import type { LedgerState } from '../ledger/ledger-state.js';
import { ensureKeyPublished } from '../ledger/publish-key.js';
import { sealEmptyBatch } from '../sealer/seal.js';
import { type NewestStamp, readNewestStamp } from './newest-stamp.js';
import { renewalTime } from './renewal.js';
import { stampCheckpoint } from './stamp-checkpoint.js';

export interface StamperOptions {
  /** As `consent_ledger_worker`. */
  readonly pool: pg.Pool;
  readonly log: EventLog;
  readonly logger: Log;
  readonly signer: LedgerSigner;
  readonly client: TimestampClient;
  /** Called before a checkpoint leaves the service, to be remembered outside the database. */
  readonly rememberHead?: (state: LedgerState) => Promise<void>;
  /** DER of the configured roots, as the client has them. */
  readonly trustAnchors: readonly Uint8Array[];
  /** At least so long between two stamps, in milliseconds: authorities charge by the stamp. */
  readonly minIntervalMs: number;
  /** How long before a stamp stops being sound it is renewed, in milliseconds. */
  readonly renewalMarginMs?: number;
  /** How often new batches are looked for, in milliseconds. */
  readonly pollMs?: number;
  readonly now?: () => Date;
  /** By which empty batches are sealed; else `now`. */
  readonly sealingClock?: SealingClock;
  readonly tracing?: Tracing;
}

export interface Stamper extends BackgroundPart {
  /** Looks for a new batch at once: a hint for the sealer. */
  wake(): void;
}

const DAY_MS = 86_400_000;

/** Has checkpoints time-stamped (docs/architecture.md, “The stages”). Any number may run; the ledger's expected revision lets one win each time. */
export function createStamper(options: StamperOptions): Stamper {
  return new CheckpointStamper(options);
}

class CheckpointStamper implements Stamper {
  readonly name = 'stamper';
  readonly #now: () => Date;
  readonly #marginMs: number;
  readonly #wakeUp = new WakeUp();
  #isLeader = false;
  #stamps = 0;
  #failures = 0;
  #newest: NewestStamp | null = null;

  constructor(private readonly options: StamperOptions) {
    this.#now = options.now ?? (() => new Date());
    this.#marginMs = options.renewalMarginMs ?? 60 * DAY_MS;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { pool, logger } = this.options;
    await runUnderLease({ pool, name: this.name, log: logger, work: (leased) => this.#work(leased) }, signal);
  }

  wake(): void {
    this.#wakeUp.wake();
  }

  status(): PartStatus {
    return {
      leader: this.#isLeader,
      stamps: this.#stamps,
      failures_in_a_row: this.#failures,
      stamped_size: this.#newest?.size ?? null,
      sound_until: this.#newest?.soundUntil?.toISOString() ?? null,
    };
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { pool, log, signer, logger, minIntervalMs, pollMs = 1_000 } = this.options;
    await ensureKeyPublished(pool, log, signer, this.#now);
    this.#newest = await this.#readNewest();
    const backOff = new BackOff(1_000, 60_000);
    this.#isLeader = true;
    try {
      while (!signal.aborted) {
        this.#wakeUp.begin();
        let waitMs = pollMs;
        try {
          if (await this.#stampIfDue(signal)) waitMs = minIntervalMs;
          this.#failures = 0;
          backOff.reset();
        } catch (error) {
          if (error instanceof OperatorNeeded) throw error;
          if (signal.aborted) break;
          this.#failures += 1;
          waitMs = backOff.next();
          logger.warn({ part: this.name, reason: describe(error) }, 'no time stamp obtained; trying again');
        }
        if (waitMs === pollMs) await this.#wakeUp.pause(waitMs, signal);
        else await pause(waitMs, signal);
      }
    } finally {
      this.#isLeader = false;
    }
  }

  /** @returns whether a stamp was asked for */
  async #stampIfDue(signal: AbortSignal): Promise<boolean> {
    const { pool, log, logger, tracing = NO_TRACING } = this.options;
    let state = await catchUpLedger(pool, log);
    if ((state.stamped?.size ?? null) !== (this.#newest?.size ?? null)) {
      this.#newest = await this.#readNewest();
    }
    if (state.size === (state.stamped?.size ?? 0)) {
      if (!this.#isRenewalDue()) return false;
      logger.info({ part: this.name, ledger_size: state.size }, 'renewing the protection of older time stamps');
      state = await sealEmptyBatch(pool, log, this.options.sealingClock ?? this.#now);
    }
    const { size } = state;
    const { isOwn } = await tracing.span('stamp checkpoint', { 'consent_ledger.ledger_size': size }, () =>
      stampCheckpoint(this.options, state, this.#newest, signal),
    );
    this.#newest = await this.#readNewest();
    if (isOwn) {
      this.#stamps += 1;
      logger.info({ part: this.name, ledger_size: state.size }, 'checkpoint stamped');
    }
    return true;
  }

  #readNewest(): Promise<NewestStamp | null> {
    return readNewestStamp(this.options.pool, this.options.trustAnchors, this.#now());
  }

  #isRenewalDue(): boolean {
    if (this.#newest === null) return false;
    return renewalTime(this.#newest.genTime, this.#newest.soundUntil, this.#marginMs) <= this.#now();
  }
}
