import type pg from 'pg';
import * as z from 'zod';
import { isSealedStream } from '../../../schemas/events/streams.js';
import { SUBJECT_ERASED } from '../../../schemas/events/subject-erased.js';
import {
  type BackgroundPart,
  type PartStatus,
  runUnderLease,
  type ServiceLogger,
} from '../../platform/background/part.js';
import { pause } from '../../platform/background/waiting.js';
import type { TrustedClock } from '../../platform/clock.js';
import type { Queryable } from '../../platform/database/pool.js';
import { assertGenuine, NotGenuine, type ProofKeys } from '../../platform/keys/index.js';
import { NO_TRACING, type Tracing } from '../../platform/telemetry/tracing.js';
import { RevisionGap } from '../event-log/errors.js';
import type { EventLog, LoggedEvent } from '../event-log/port.js';
import type { Appends } from '../event-log/shared-reads.js';
import { catchUpLedger } from '../ledger/apply-ledger.js';
import { Unsealable } from '../ledger/errors.js';
import type { LedgerSigner } from '../ledger/ledger-signer.js';
import type { FollowedLedger, LedgerState } from '../ledger/ledger-state.js';
import { ensurePolicySet, type PolicyPace, type PolicySettings, readPolicyPace } from '../ledger/policy.js';
import { ensureKeyPublished } from '../ledger/publish-key.js';
import { readSealedHeads } from '../ledger/sealed-heads.js';
import { assignTags, rememberNumbers, type SiteKeys } from './assign-tags.js';
import { withErasureTags } from './erasure-tags.js';
import { type BatchLimits, PendingBatch, QuarantinedStreams } from './pending-batch.js';
import { sealBatch } from './seal.js';

export interface SealerOptions {
  /** A handle in the role `consent_ledger_worker`. */
  readonly db: pg.Pool;
  readonly eventLog: EventLog;
  readonly keyring: ProofKeys & SiteKeys;
  readonly logger: ServiceLogger;
  readonly signer: LedgerSigner;
  readonly limits: BatchLimits;
  /** Policy to publish before the first batch. If omitted, none is published. */
  readonly policy?: PolicySettings;
  /** Interval of the search for new events while a batch grows, in milliseconds. */
  readonly pollMs?: number;
  /** Ends the pause of a sealer whose batch is empty. Without it, the sealer searches at the same interval. */
  readonly appends?: Appends;
  /** Interval, in milliseconds, of the check that no events were skipped. It looks at every stream. */
  readonly lookEveryMs?: number;
  /** Called after each Merkle batch, so that the stamper need not wait for its next poll. */
  readonly onSealed?: () => void;
  /** Stores the ledger's state outside the database; called after each Merkle batch. */
  readonly rememberHead?: (state: LedgerState) => Promise<void>;
  readonly now?: () => Date;
  /** Clock that dates Merkle batches; the default is `now`. */
  readonly trustedClock?: TrustedClock;
  readonly tracing?: Tracing;
}

/**
 * Maximum number of leaves in a Merkle batch. Its runs must fit into one append, even if every leaf
 * is a run of its own.
 */
export const MAX_BATCH_LEAVES = 8_000;
const PAGE = 500;
/** Longest pause while the batch is empty, in milliseconds. */
const SLEEP_MS = 5_000;

/**
 * Creates the part that seals the events of sites into Merkle batches (docs/architecture.md, “The
 * stages”). Several processes may run it; the expected revision of the ledger lets one of them
 * append.
 */
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
  readonly #leftOut: QuarantinedStreams;
  /**
   * Ends of the streams that had unsealed events at the last check. Empty once the end of the log has been reached
   * since.
   */
  #waiting: readonly StreamEnd[] = [];
  /** Time of the last check, in milliseconds of a monotonic clock. */
  #lookedAt = 0;

  constructor(private readonly options: SealerOptions) {
    const { maxLeaves, maxAgeMs } = options.limits;
    if (!(maxLeaves >= 1 && maxLeaves <= MAX_BATCH_LEAVES)) {
      throw new RangeError(`a batch has 1 to ${MAX_BATCH_LEAVES} leaves, not ${maxLeaves}`);
    }
    this.#limits = { maxLeaves, maxAgeMs };
    this.#leftOut = new QuarantinedStreams(options.db, (site, reason) =>
      options.logger.error({ part: this.name, site, reason }, 'site quarantined: its events cannot be sealed'),
    );
    this.#now = options.now ?? (() => new Date());
  }

  async run(signal: AbortSignal): Promise<void> {
    const { db, logger } = this.options;
    await runUnderLease({ db, name: this.name, logger, work: (leased) => this.#work(leased) }, signal);
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
    const { db, eventLog, signer } = this.options;
    let state = await ensureKeyPublished(db, eventLog, signer, this.#now);
    const { policy } = this.options;
    if (policy !== undefined) await ensurePolicySet(db, eventLog, policy, this.options.trustedClock ?? this.#now);
    let pace = policy === undefined ? null : await readPolicyPace(db, this.#now().getTime());
    let pending = new PendingBatch(state.logPosition);
    await this.#lookForWaiting();
    this.#isLeader = true;
    try {
      while (!signal.aborted) {
        const ticket = this.options.appends?.ticket ?? 0;
        const outcome = await this.#gather(state, pending);
        if (outcome === 'gap') {
          pending = new PendingBatch(null);
          continue;
        }
        // The wait before a restart counts toward the limit, but a backlog is sealed in full
        // batches.
        const age =
          outcome === 'at-end' ? this.#now().getTime() - (pending.oldestConsent ?? Number.POSITIVE_INFINITY) : 0;
        if (pending.isDue(this.#limitsAt(pace), performance.now(), age)) {
          const next = await this.#seal(state, pending);
          // A larger ledger contains the sealed events, so the next batch starts after them. If
          // only the stamper appended, the pending batch remains valid.
          if (next.size !== state.size) pending = new PendingBatch(next.logPosition);
          state = next;
          if (pace?.isSettled === false) pace = await readPolicyPace(db, this.#now().getTime());
        } else if (outcome === 'at-end') {
          await this.#pause(ticket, pending, signal);
        }
        this.#pendingLeaves = pending.leaves.length;
      }
    } finally {
      this.#isLeader = false;
    }
  }

  /** Pauses, longer if only an append can create work. */
  async #pause(ticket: number, { leaves }: PendingBatch, signal: AbortSignal): Promise<void> {
    const { appends, pollMs = 200 } = this.options;
    const isWaiting = leaves.length > 0 || this.#waiting.length > 0 || !this.#leftOut.areNone;
    if (appends === undefined || isWaiting) await pause(pollMs, signal);
    else await appends.wait(ticket, { followed: SLEEP_MS, alone: pollMs }, signal);
  }

  /** Returns the configured limits, or stricter ones if a policy that still applies requires them. */
  #limitsAt(pace: PolicyPace | null): BatchLimits {
    const { maxLeaves, maxAgeMs } = this.#limits;
    return { maxLeaves, maxAgeMs: Math.min(maxAgeMs, pace?.sealMs ?? maxAgeMs) };
  }

  /**
   * Reads further events from the log, at most as many as the Merkle batch has room for.
   * @returns `gap` if events before the ones read are missing in the batch; reading must then
   *   restart at the beginning of the log
   * @throws RevisionGap, Unsealable if the log is damaged where no single site is concerned
   */
  async #gather(state: FollowedLedger, pending: PendingBatch): Promise<'at-end' | 'more' | 'gap'> {
    const { db, eventLog, logger } = this.options;
    const room = pending.room(this.#limits);
    if (room <= 0) return 'more';
    if (await this.#leftOut.areReleased()) return 'gap';
    const page = await eventLog.readAll(pending.position, Math.min(room, PAGE));
    let events = page.events.filter((event) => isSealedStream(event.stream) && !this.#leftOut.has(event));
    const unknown = [...new Set(events.map((event) => event.stream))].filter((stream) => !pending.heads.has(stream));
    for (const [stream, head] of await readSealedHeads(db, state, unknown)) pending.heads.set(stream, head);
    const isNew = (event: LoggedEvent): boolean => event.revision > pending.heads.get(event.stream).revision;
    const last = new Map<string, number>();
    for (const event of events.filter(isNew)) {
      if (this.#leftOut.has(event)) continue;
      const { stream, revision } = event;
      const expected = (last.get(stream) ?? pending.heads.get(stream).revision) + 1;
      last.set(stream, revision);
      if (revision !== expected && pending.start !== null) {
        logger.warn({ part: this.name, stream, revision }, 'events were skipped; reading again');
        return 'gap';
      }
      if (revision !== expected) await this.#leftOut.add(event, new RevisionGap(stream, expected, revision));
      else await this.#checkGenuine(event);
    }
    events = events.filter((event) => !this.#leftOut.has(event));
    const fresh = events.filter(isNew);
    const consentTags = await orUnsealable('person tags', () =>
      assignTags(db, this.options.keyring, pending.nextNumbers, fresh),
    );
    const tags = await this.#withErasureTags(state, fresh, consentTags, pending);
    if (tags === null) return 'gap';
    const now = performance.now();
    for (const event of events) {
      if (pending.add(event, tags.get(event.id) ?? null, now)) continue;
      throw new Error(`the sealer lost its place in ${event.stream} at revision ${event.revision}`);
    }
    pending.position = page.next;
    if (!page.atEnd) return 'more';
    return (await this.#hasPassedOver(pending)) ? 'gap' : 'at-end';
  }

  async #lookForWaiting(): Promise<void> {
    this.#waiting = await readUnsealed(this.options.db, null);
    this.#lookedAt = performance.now();
  }

  /**
   * Returns whether, at the end of the log, events that were unsealed at the last check are neither sealed nor in the
   * batch. Then the stored position from which reading began was wrong, and no later read would find them. The check is
   * repeated, because a position beyond the end of the log also skips what comes later.
   */
  async #hasPassedOver({ heads }: PendingBatch): Promise<boolean> {
    const { db, logger, lookEveryMs = 60_000 } = this.options;
    const open = this.#waiting.filter(
      (end) => heads.get(end.stream).revision < end.revision && !this.#leftOut.has(end),
    );
    this.#waiting = [];
    const missed = open.length === 0 ? [] : await readUnsealed(db, open);
    if (performance.now() - this.#lookedAt >= lookEveryMs) await this.#lookForWaiting();
    if (missed.length === 0) return false;
    const { stream, revision } = missed[0] ?? {};
    logger.warn({ part: this.name, stream, revision }, 'events were missed; reading the log from its beginning');
    return true;
  }

  /** @returns null if the log has lost an erasure of the same record; its stream is then excluded */
  async #withErasureTags(
    { tree }: FollowedLedger,
    fresh: readonly LoggedEvent[],
    consentTags: ReadonlyMap<string, Uint8Array>,
    { leaves }: PendingBatch,
  ): Promise<ReadonlyMap<string, Uint8Array> | null> {
    const { db, eventLog } = this.options;
    try {
      return await withErasureTags({ db, eventLog, tree }, fresh, consentTags, leaves);
    } catch (error) {
      if (!(error instanceof RevisionGap)) throw error;
      const erasure = fresh.find(({ type, stream }) => type === SUBJECT_ERASED && stream === error.stream);
      if (erasure === undefined) throw error;
      await this.#leftOut.add(erasure, error);
      return null;
    }
  }

  /** Excludes an event that bypassed the relay or was altered in the log, and the later events of its stream. */
  async #checkGenuine(event: LoggedEvent): Promise<void> {
    try {
      await assertGenuine(event, this.options.keyring);
    } catch (error) {
      if (!(error instanceof NotGenuine)) throw error;
      await this.#leftOut.add(
        event,
        new Unsealable(`${event.stream}, revision ${event.revision}: ${error.message}`, { cause: error }),
      );
    }
  }

  /** Warns once half of the promised time has passed, while the promises are still kept. */
  #warnOfDelay(oldestConsent: number | null, sealedAt: Date): void {
    const { policy, logger } = this.options;
    if (policy === undefined || oldestConsent === null) return;
    const seconds = Math.round((sealedAt.getTime() - oldestConsent) / 1000);
    if (seconds * 2 <= policy.sealWithinSeconds) return;
    logger.warn(
      { part: this.name, seconds, promised_seconds: policy.sealWithinSeconds },
      'a consent waited for its Merkle batch longer than half of the promised time',
    );
  }

  /**
   * Seals the pending batch, unless another sealer was first.
   * @returns the ledger's state afterwards
   */
  async #seal(before: FollowedLedger, pending: PendingBatch): Promise<FollowedLedger> {
    const { db, eventLog, logger, onSealed, rememberHead, tracing = NO_TRACING } = this.options;
    const current = await catchUpLedger(db, eventLog, { from: before });
    if (current.size !== before.size) return current;
    const content = { leaves: pending.leaves, logPosition: pending.position };
    const time = await (this.options.trustedClock ?? this.#now)();
    const { state, sealed } = await tracing.span('seal batch', { 'consent_ledger.events': pending.leaves.length }, () =>
      sealBatch(db, eventLog, current, content, time),
    );
    this.#size = state.size;
    if (!sealed) return state;
    this.#warnOfDelay(pending.oldestConsent, time);
    await rememberNumbers(db, pending.nextNumbers);
    await rememberHead?.(state);
    this.#sealedBatches += 1;
    this.#sealedLeaves += pending.leaves.length;
    logger.info({ part: this.name, ledger_size: state.size, events: pending.leaves.length }, 'Merkle batch sealed');
    onSealed?.();
    // The position that this process has read up to. The row may state another one.
    return { ...state, logPosition: pending.position };
  }
}

/** The last revision that a stream of the log is known to have. */
interface StreamEnd {
  readonly stream: string;
  readonly revision: number;
}

const StreamEnds = z.array(z.object({ stream: z.string(), revision: z.int() }));

/**
 * Reads which streams have relayed events that are not sealed. @param among only these streams are read, up to these
 * ends; null reads all
 */
async function readUnsealed(db: Queryable, among: readonly StreamEnd[] | null): Promise<readonly StreamEnd[]> {
  const { rows } =
    among === null
      ? await db.query(
          `select r.stream, r.revision from event_log.logged_streams r left join sealed_streams s using (stream)
            where r.revision > coalesce(s.revision, -1)`,
        )
      : await db.query(
          `select w.stream, w.revision from unnest($1::text[], $2::bigint[]) as w (stream, revision)
             left join sealed_streams s using (stream) where w.revision > coalesce(s.revision, -1)`,
          [among.map(({ stream }) => stream), among.map(({ revision }) => revision)],
        );
  return StreamEnds.parse(rows);
}

/**
 * Turns the discovery of an altered key row into `Unsealable`.
 * @throws Unsealable
 */
async function orUnsealable<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NotGenuine)) throw error;
    throw new Unsealable(`${what}: ${error.message}`, { cause: error });
  }
}
