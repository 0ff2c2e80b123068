import type pg from 'pg';
import * as z from 'zod';
import {
  type BackgroundPart,
  describe,
  type Lease,
  OperatorNeeded,
  type PartStatus,
  runUnderLease,
  type ServiceLogger,
} from '../../platform/background/part.js';
import { withAnySignal } from '../../platform/background/signals.js';
import { BackOff, LONGEST_WAIT_MS, type Look, pause, WakeUp } from '../../platform/background/waiting.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { ProofKeys } from '../../platform/keys/index.js';
import type { Tracing } from '../../platform/telemetry/tracing.js';
import { LogBehind, LogDiverged } from '../event-log/errors.js';
import type { EventLog } from '../event-log/port.js';
import { quarantineSite } from '../event-log/quarantined-sites.js';
import { isStamped } from '../ledger/read-checkpoints.js';
import { assertLogWhole } from './log-check.js';
import { appendRuns, RefusedForGood, sequenceRuns } from './placement.js';
import { type PageRelayOptions, relayFirstEvents } from './relay-page.js';
import { BEFORE_ALL_SITES, sitesWaiting } from './waiting.js';

export interface RelayOptions {
  /** A pool in the role `consent_ledger_worker`, with at least three connections. */
  readonly db: pg.Pool;
  readonly eventLog: EventLog;
  readonly keyring: ProofKeys;
  readonly logger: ServiceLogger;
  /** Maximum number of sites with events in one page. */
  readonly maxSites?: number;
  /** Interval of the search for waiting events while none can be relayed, in milliseconds. */
  readonly pollMs?: number;
  /**
   * Finds waiting events whose notification was lost while the relay sleeps, which it does after `QUIET_TURNS` searches
   * without a waiting event. If absent, the relay does not sleep.
   */
  readonly look?: Look;
  /**
   * Pause after a page that took all waiting events, in milliseconds, so that events accumulate. Even a page with few
   * events costs several commits, here and in everything that follows the log.
   */
  readonly gatherMs?: number;
  /**
   * How long the database keeps events after they were sealed, in milliseconds, if the log is outside PostgreSQL. Their
   * Merkle batch must also have a time stamp.
   */
  readonly retentionMs: number;
  /** Interval between deletions of such events, in milliseconds. */
  readonly retentionEveryMs?: number;
  /**
   * Pause between two pages of the check that the log still has all appended events, in milliseconds. A page has 500
   * streams, and the check starts over after the last one.
   */
  readonly checkPaceMs?: number;
  /** Maximum number of events of a page, and size of their bodies. */
  readonly maxEvents?: number;
  readonly maxBytes?: number;
  readonly tracing?: Tracing;
}

export interface Relay extends BackgroundPart {
  /** Starts the search for waiting events immediately. Called after events were committed. */
  wake(): void;
}

/** SQL condition for `Looks`: true if an event waits. */
export const EVENT_WAITS = 'exists (select from event_log.waiting)';
/** Number of searches without a result after which the relay sleeps. */
const QUIET_TURNS = 20;

/**
 * Creates the part that moves waiting events into the event log (docs/architecture.md, “The stages”). For the
 * `postgres` log it assigns positions; to any other log it appends. Several processes may run it: one works and the
 * others stand by.
 */
export function createRelay(options: RelayOptions): Relay {
  return new EventRelay(options);
}

interface SiteTrouble {
  readonly backOff: BackOff;
  retryAt: number;
}

class EventRelay implements Relay {
  readonly name = 'relay';
  readonly #page: PageRelayOptions;
  readonly #maxSites: number;
  readonly #pollMs: number;
  readonly #gatherMs: number;
  readonly #trouble = new Map<string, SiteTrouble>();
  /** Site after which the next page begins, because the sites take turns. */
  #after = BEFORE_ALL_SITES;
  readonly #wakeUp = new WakeUp();
  #relayed = 0;
  #quarantined = 0;
  #isLeader = false;

  constructor(private readonly options: RelayOptions) {
    this.#maxSites = options.maxSites ?? 500;
    this.#pollMs = options.pollMs ?? 50;
    this.#gatherMs = options.gatherMs ?? 100;
    const { db, eventLog, keyring, tracing } = options;
    const maxBytes = options.maxBytes ?? 4_000_000;
    this.#page = {
      db,
      placement: eventLog.kind === 'postgres' ? sequenceRuns(db) : appendRuns(db, eventLog),
      keyring,
      limits: {
        maxEvents: options.maxEvents ?? 1_000,
        maxSiteBytes: eventLog.kind === 'postgres' ? maxBytes : eventLog.maxAppendBytes,
        maxBytes,
      },
      ...(tracing && { tracing }),
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { db, logger } = this.options;
    await runUnderLease({ db, name: this.name, logger, work: (leased, lease) => this.#work(leased, lease) }, signal);
  }

  wake(): void {
    this.#wakeUp.wake();
  }

  status(): PartStatus {
    return {
      leader: this.#isLeader,
      relayed_events: this.#relayed,
      quarantined_sites: this.#quarantined,
      sites_retrying: this.#trouble.size,
    };
  }

  async #work(signal: AbortSignal, lease: Lease): Promise<void> {
    const { db, eventLog, logger } = this.options;
    await assertLogWhole(db, eventLog, { logger });
    const stop = new AbortController();
    await withAnySignal([signal, stop.signal], (stopped) => this.#relayPages(lease, signal, stopped, stop));
  }

  async #relayPages(lease: Lease, signal: AbortSignal, stopped: AbortSignal, stop: AbortController): Promise<void> {
    this.#page.placement.forget();
    this.#trouble.clear();
    this.#after = BEFORE_ALL_SITES;
    this.#isLeader = true;
    const cleaning = this.options.eventLog.kind === 'postgres' ? null : this.#clean(stopped);
    let damage: unknown = null;
    const watching = this.#watchLog(stopped).catch((error: unknown) => {
      damage = error;
      this.#wakeUp.wake();
    });
    try {
      const bell = await Bell.open(lease, () => this.#wakeUp.wake());
      let quietTurns = 0;
      while (!signal.aborted) {
        if (damage !== null) throw damage;
        this.#wakeUp.begin();
        const outcome = await this.#relayPage(signal);
        quietTurns = outcome === 'none' ? quietTurns + 1 : 0;
        if (quietTurns === 0) await bell.unset();
        // The search is repeated after the bell is set, because events may have arrived just before.
        else if (this.#maySleep(quietTurns) && !bell.isSet && (await bell.set())) continue;
        if (bell.isSet) await this.options.look?.wait(LONGEST_WAIT_MS, signal, this.#wakeUp.woken);
        else if (outcome !== 'more')
          await this.#wakeUp.pause(outcome === 'all' ? this.#gatherMs : this.#pollMs, signal);
      }
    } finally {
      stop.abort();
      await Promise.all([cleaning, watching]);
      this.#isLeader = false;
    }
  }

  #maySleep(quietTurns: number): boolean {
    return this.options.look !== undefined && quietTurns >= QUIET_TURNS;
  }

  /**
   * Relays events of the next sites with waiting events.
   * @returns `none` if no event waits, `idle` if no site has waiting events that can be relayed now, `all` if every
   * waiting event was taken, or `more` if others may wait
   * @throws OperatorNeeded
   */
  async #relayPage(signal: AbortSignal): Promise<'none' | 'idle' | 'all' | 'more'> {
    const isFirst = this.#after === BEFORE_ALL_SITES;
    const { siteIds, last, areNone } = await sitesWaiting(this.options.db, this.#after, this.#maxSites);
    this.#after = last ?? BEFORE_ALL_SITES;
    if (isFirst && areNone) return 'none';
    const now = performance.now();
    const ready = siteIds.filter((siteId) => (this.#trouble.get(siteId)?.retryAt ?? 0) <= now);
    if (ready.length === 0) return isFirst && last === null ? 'idle' : 'more';
    const { relayed, mayWait, failures } = await relayFirstEvents(this.#page, ready, signal);
    this.#relayed += relayed;
    for (const siteId of ready) if (!failures.has(siteId)) this.#trouble.delete(siteId);
    await this.#onFailures(failures);
    return isFirst && last === null && !mayWait ? 'all' : 'more';
  }

  /**
   * Quarantines the sites whose next event the log refuses permanently, and retries the others later.
   * @throws OperatorNeeded
   */
  async #onFailures(failures: ReadonlyMap<string, unknown>): Promise<void> {
    const retried = new Map<string, string[]>();
    for (const [siteId, error] of failures) {
      if (error instanceof LogBehind) await assertLogWhole(this.options.db, this.options.eventLog, this.options);
      else if (error instanceof OperatorNeeded && !isDivergence(error)) throw error;
      if (error instanceof RefusedForGood && (await this.#quarantine(siteId, error))) continue;
      const trouble = this.#trouble.get(siteId) ?? { backOff: new BackOff(), retryAt: 0 };
      trouble.retryAt = performance.now() + trouble.backOff.next();
      this.#trouble.set(siteId, trouble);
      const reason = describe(error);
      retried.set(reason, [...(retried.get(reason) ?? []), siteId]);
    }
    // One log line for all sites, because an unavailable log fails every site of a page.
    for (const [reason, [site, ...others]] of retried) {
      const facts = { part: this.name, site, other_sites: others.length, reason };
      this.options.logger.warn(facts, 'relaying failed; trying again');
    }
  }

  /** @returns false if the quarantine could not be stored */
  async #quarantine(siteId: string, error: RefusedForGood): Promise<boolean> {
    const { logger, db } = this.options;
    logger.error(
      { part: this.name, site: siteId, reason: error.message },
      'site quarantined: the event log refuses its next event',
    );
    try {
      await quarantineSite(db, siteId, error.message);
    } catch (failure) {
      logger.warn(
        { part: this.name, site: siteId, reason: describe(failure) },
        'quarantining the site failed; trying again',
      );
      return false;
    }
    this.#quarantined += 1;
    this.#trouble.delete(siteId);
    return true;
  }

  /**
   * Checks the streams of the log over and over. A server can remove events at any time, and appends do not notice what
   * is missing before them.
   * @throws LogBehind, RevisionGap if a stream of the ledger lost events
   */
  async #watchLog(signal: AbortSignal): Promise<void> {
    const { db, eventLog, logger, checkPaceMs = 10_000 } = this.options;
    while (!signal.aborted) {
      await pause(checkPaceMs, signal);
      try {
        await assertLogWhole(db, eventLog, { logger, paceMs: checkPaceMs, signal });
      } catch (error) {
        if (error instanceof OperatorNeeded) throw error;
        logger.warn({ part: this.name, reason: describe(error) }, 'checking the event log failed; trying again');
      }
    }
  }

  async #clean(signal: AbortSignal): Promise<void> {
    const { db, logger, retentionMs, retentionEveryMs = 60_000 } = this.options;
    while (!signal.aborted) {
      try {
        const deleted = await deleteStampedEvents(db, retentionMs, signal);
        if (deleted > 0)
          logger.info({ part: this.name, deleted }, 'deleted relayed events that were past their retention period');
      } catch (error) {
        logger.warn({ part: this.name, reason: describe(error) }, 'deleting relayed events failed; trying again');
      }
      await pause(retentionEveryMs, signal);
    }
  }
}

/**
 * Returns whether an append found a foreign event. The next attempt compares the stream with what
 * waits, and identifies the event.
 */
function isDivergence(error: unknown): boolean {
  return error instanceof LogDiverged;
}

/** Channel of the trigger `event_log.wake_relay`. */
const CHANNEL = 'consent_ledger_waiting';
/** The lock that the trigger tries to share. */
const LOCK = 'consent-ledger relay sleeps';

const HeldRows = z.tuple([z.object({ held: z.boolean() })]);

/**
 * Notifies a sleeping relay of new events. Transactions that write events notify only while the bell is set, so commits
 * pay nothing while the relay is awake. The bell ends with the lease.
 */
class Bell {
  #isSet = false;

  private constructor(private readonly lease: Lease) {}

  /** Opens a bell on the connection of a lease. Initially it is not set. */
  static async open(lease: Lease, onRing: () => void): Promise<Bell> {
    lease.onNotification(onRing);
    await lease.query(`LISTEN ${CHANNEL}`);
    return new Bell(lease);
  }

  get isSet(): boolean {
    return this.#isSet;
  }

  /**
   * Sets the bell. Events written before are committed by then, so one search finds them; events written later ring it.
   * @returns false if events are being written
   */
  async set(): Promise<boolean> {
    const rows = await this.lease.query('select pg_try_advisory_lock(hashtextextended($1, 0)) as held', [LOCK]);
    this.#isSet = HeldRows.parse(rows)[0].held;
    return this.#isSet;
  }

  async unset(): Promise<void> {
    if (!this.#isSet) return;
    this.#isSet = false;
    await this.lease.query('select pg_advisory_unlock(hashtextextended($1, 0)) as held', [LOCK]);
  }
}

const pageRows = z.tuple([z.object({ batches: z.int(), deleted: z.int() })]);

/** Merkle batches whose events one transaction deletes. */
const PAGE = 4;

/**
 * Deletes events that a log outside PostgreSQL has, once their Merkle batch was sealed long enough ago and has a time
 * stamp. Until then they can refill a log that was restored from an older backup. Each page is one short transaction.
 * @param retentionMs minimum age of the batch, in milliseconds
 * @returns number of deleted events
 */
export async function deleteStampedEvents(db: Queryable, retentionMs: number, signal: AbortSignal): Promise<number> {
  let deleted = 0;
  while (!signal.aborted) {
    const { rows } = await db.query(DELETE_PAGE, [PAGE, retentionMs]);
    const [page] = pageRows.parse(rows);
    deleted += page.deleted;
    if (page.batches < PAGE) break;
  }
  return deleted;
}

// Events with a position come from a postgres log that was copied to another one.
const DELETE_PAGE = `
  with page as (
    select b.number from batches b
     where b.number > (select batch from event_log.retention)
       and b.sealed_at < now() - $2 * interval '1 millisecond' and ${isStamped('b.number')}
     order by b.number limit $1
  ), deleted as (
    delete from event_log.events e using page p
      join leaves l on l.batch = p.number join event_log.streams s on s.name = l.stream
     where e.stream = s.number and e.revision = l.revision and e.revision > event_log.last_of(s.number)
    returning 1
  ), moved as (
    update event_log.retention set batch = (select max(number) from page) where exists (select from page)
  )
  select (select count(*) from page)::int as batches, (select count(*) from deleted)::int as deleted`;
