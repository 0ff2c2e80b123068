import type pg from 'pg';
import {
  type BackgroundPart,
  describe,
  OperatorNeeded,
  type PartStatus,
  runUnderLease,
  type ServiceLogger,
} from '../../platform/background/part.js';
import { BackOff, pause, WakeUp } from '../../platform/background/waiting.js';
import type { TrustedClock } from '../../platform/clock.js';
import { NO_TRACING, type Tracing } from '../../platform/telemetry/tracing.js';
import type { TimestampClient } from '../../timestamping/client.js';
import type { EventLog } from '../event-log/port.js';
import type { Appends } from '../event-log/shared-reads.js';
import { catchUpLedger } from '../ledger/apply-ledger.js';
import type { FollowedLedger, LedgerState } from '../ledger/ledger-state.js';
import { readPolicyPace, readStampsDemanded, type StampsDemanded } from '../ledger/policy.js';
import { ensureKeyPublished } from '../ledger/publish-key.js';
import { sealEmptyBatch } from '../sealer/seal.js';
import { type NewestStamp, readNewestStamp, renewalTime } from './newest-stamp.js';
import { type CheckpointSigners, stampCheckpoint } from './stamp-checkpoint.js';

export interface StamperOptions extends CheckpointSigners {
  /** A handle in the role `consent_ledger_worker`. */
  readonly db: pg.Pool;
  readonly eventLog: EventLog;
  readonly logger: ServiceLogger;
  readonly client: TimestampClient;
  /** Number of distinct authorities that must stamp a checkpoint; the policies can require more. */
  readonly quorum: number;
  /**
   * Stores the ledger's state outside the database; called before a checkpoint leaves the service.
   */
  readonly rememberHead?: (state: LedgerState) => Promise<void>;
  /** DER of the configured root certificates, as in the time stamp client. */
  readonly trustAnchors: readonly Uint8Array[];
  /** Minimum interval between two time stamps, in milliseconds. Authorities charge per time stamp. */
  readonly minIntervalMs: number;
  /** Time before the end of a time stamp's validity at which it is renewed, in milliseconds. */
  readonly renewalMarginMs?: number;
  /**
   * Age of the newest time stamp, in milliseconds, at which a ledger without new events is stamped again. Verifiers
   * warn about a package that was created 24 hours after its newest time stamp.
   */
  readonly maxQuietMs?: number;
  /** Interval of the search for new batches, in milliseconds. */
  readonly pollMs?: number;
  /** Lengthens the pause while nothing is appended. */
  readonly appends?: Appends;
  readonly now?: () => Date;
  /** Clock that dates empty batches; the default is `now`. */
  readonly trustedClock?: TrustedClock;
  readonly tracing?: Tracing;
}

export interface Stamper extends BackgroundPart {
  /** Starts the search for a new batch immediately. Called by the sealer. */
  wake(): void;
}

const DAY_MS = 86_400_000;
/** Longest pause while nothing is appended to the log, in milliseconds. */
const SLEEP_MS = 5_000;

/**
 * Creates the part that obtains time stamps for checkpoints (docs/architecture.md, “The stages”).
 * Several processes may run it; the expected revision of the ledger lets one of them append.
 */
export function createStamper(options: StamperOptions): Stamper {
  return new CheckpointStamper(options);
}

class CheckpointStamper implements Stamper {
  readonly name = 'stamper';
  readonly #now: () => Date;
  readonly #marginMs: number;
  readonly #maxQuietMs: number;
  readonly #wakeUp = new WakeUp();
  #isLeader = false;
  #stamps = 0;
  #failures = 0;
  #ledger: FollowedLedger | null = null;
  #newest: NewestStamp | null = null;
  #demanded: StampsDemanded | null = null;

  constructor(private readonly options: StamperOptions) {
    this.#now = options.now ?? (() => new Date());
    this.#marginMs = options.renewalMarginMs ?? 60 * DAY_MS;
    this.#maxQuietMs = options.maxQuietMs ?? DAY_MS / 2;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { db, logger } = this.options;
    await runUnderLease({ db, name: this.name, logger, work: (leased) => this.#work(leased) }, signal);
  }

  wake(): void {
    this.#wakeUp.wake();
  }

  status(): PartStatus {
    return {
      leader: this.#isLeader,
      stamps: this.#stamps,
      failures_in_a_row: this.#failures,
      lowered_quorum_waits_for: this.#waitsFor,
      stamped_size: this.#newest?.size ?? null,
      sound_until: this.#newest?.soundUntil?.toISOString() ?? null,
    };
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { db, eventLog, signer, logger, pollMs = 1_000 } = this.options;
    this.#ledger = await ensureKeyPublished(db, eventLog, signer, this.#now);
    this.#newest = await this.#readNewest();
    const backOff = new BackOff(1_000, 60_000);
    this.#isLeader = true;
    try {
      while (!signal.aborted) {
        this.#wakeUp.begin();
        const ticket = this.options.appends?.ticket ?? 0;
        let waitMs = pollMs;
        try {
          if (await this.#stampIfDue(signal)) waitMs = await this.#intervalMs();
          this.#failures = 0;
          backOff.reset();
        } catch (error) {
          if (error instanceof OperatorNeeded) throw error;
          if (signal.aborted) break;
          this.#failures += 1;
          waitMs = backOff.next();
          const demanded = { authorities_demanded: this.#demanded?.authorities };
          logger.warn(
            { part: this.name, ...demanded, reason: describe(error) },
            'no time stamp obtained; trying again',
          );
        }
        if (waitMs !== pollMs) await pause(waitMs, signal);
        else {
          await this.#wakeUp.pause(pollMs, signal);
          await this.options.appends?.wait(ticket, { followed: SLEEP_MS, alone: 0 }, signal, this.#wakeUp.woken);
        }
      }
    } finally {
      this.#isLeader = false;
    }
  }

  /** Returns the configured interval, or a shorter one if a policy that still applies requires it. */
  async #intervalMs(): Promise<number> {
    const { db, minIntervalMs } = this.options;
    return Math.min(minIntervalMs, (await readPolicyPace(db, this.#now().getTime())).stampMs);
  }

  /** @returns whether a time stamp was requested */
  async #stampIfDue(signal: AbortSignal): Promise<boolean> {
    const { db, eventLog, logger, tracing = NO_TRACING } = this.options;
    let state = await catchUpLedger(db, eventLog, { from: this.#ledger });
    this.#ledger = state;
    if ((state.stamped?.size ?? null) !== (this.#newest?.size ?? null)) {
      this.#newest = await this.#readNewest();
    }
    if (state.size === (state.stamped?.size ?? 0)) {
      if (!this.#isRenewalDue()) return false;
      logger.info({ part: this.name, ledger_size: state.size }, 'stamping again without new events');
      state = await sealEmptyBatch(db, eventLog, this.options.trustedClock ?? this.#now, state);
    }
    const { size } = state.pending ?? state;
    const quorum = await this.#readDemanded();
    const { state: after, isOwn } = await tracing.span('stamp checkpoint', { 'consent_ledger.ledger_size': size }, () =>
      stampCheckpoint({ ...this.options, quorum }, state, this.#newest, signal),
    );
    this.#ledger = after;
    this.#newest = await this.#readNewest();
    if (isOwn) {
      this.#stamps += 1;
      logger.info({ part: this.name, ledger_size: size }, 'checkpoint stamped');
    }
    return true;
  }

  /**
   * Number of authorities that must still stamp before a lowered quorum takes effect, or 0 if no lowered quorum is
   * pending.
   */
  get #waitsFor(): number {
    return this.#demanded === null || this.#demanded.waitingPolicy === null ? 0 : this.#demanded.authorities;
  }

  /** @returns number of distinct authorities that must stamp the next checkpoint */
  async #readDemanded(): Promise<number> {
    const { db, eventLog, logger, quorum } = this.options;
    const before = this.#demanded;
    const demanded = await readStampsDemanded(db, eventLog, quorum);
    this.#demanded = demanded;
    if (demanded.waitingPolicy !== null && demanded.waitingPolicy !== before?.waitingPolicy)
      logger.warn(
        { part: this.name, policy: demanded.waitingPolicy, authorities_demanded: demanded.authorities, quorum },
        `the lowered TSA_QUORUM is not in effect yet: ${demanded.authorities} distinct authorities must stamp one more checkpoint; add an authority to TSA_URLS if too few of them answer`,
      );
    if (demanded.waitingPolicy === null && before !== null && before.waitingPolicy !== null)
      logger.info({ part: this.name, quorum }, 'the lowered TSA_QUORUM is now in effect');
    return demanded.authorities;
  }

  #readNewest(): Promise<NewestStamp | null> {
    return readNewestStamp(this.options.db, this.options.trustAnchors, this.#now());
  }

  #isRenewalDue(): boolean {
    if (this.#newest === null) return false;
    const { genTime, soundUntil } = this.#newest;
    const isQuiet = this.#now().getTime() - genTime.getTime() >= this.#maxQuietMs;
    return isQuiet || renewalTime(genTime, soundUntil, this.#marginMs) <= this.#now();
  }
}
