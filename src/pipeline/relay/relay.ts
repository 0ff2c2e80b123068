import type pg from 'pg';
import type { BackgroundPart, PartStatus, ServiceLogger } from '../../platform/background/part.js';
import { OperatorNeeded } from '../../platform/background/part.js';
import { describe, runUnderLease } from '../../platform/background/run-under-lease.js';
import { withAnySignal } from '../../platform/background/signals.js';
import { BackOff, pause } from '../../platform/background/waiting.js';
import { WakeUp } from '../../platform/background/wake-up.js';
import type { ProofKeys } from '../../platform/keys/index.js';
import type { Tracing } from '../../platform/telemetry/tracing.js';
import { LogDiverged } from '../event-log/errors.js';
import type { EventLog } from '../event-log/port.js';
import { assertLogNotBehind } from './log-check.js';
import { sitesWaiting } from './outbox.js';
import { quarantineSite } from './quarantined-sites.js';
import { RefusedForGood, SiteRelay } from './relay-site.js';
import { deleteStampedRows } from './retention.js';

export interface RelayOptions {
  /** In the role `consent_ledger_worker`, with at least `parallelSites` + 2 connections. */
  readonly db: pg.Pool;
  readonly eventLog: EventLog;
  readonly keyring: ProofKeys;
  readonly logger: ServiceLogger;
  /** Number of sites that are relayed at the same time. */
  readonly parallelSites?: number;
  /** Interval of the search for waiting rows while the outbox is empty, in milliseconds. */
  readonly pollMs?: number;
  /**
   * Minimum age at which a relayed row may be deleted, in milliseconds. The row's Merkle batch must
   * also be time-stamped.
   */
  readonly retentionMs: number;
  /** Interval between deletions of expired rows, in milliseconds. */
  readonly retentionEveryMs?: number;
  /** Maximum number of rows of one site in memory. */
  readonly maxRows?: number;
  readonly maxBytes?: number;
  readonly tracing?: Tracing;
}

export interface Relay extends BackgroundPart {
  /** Starts the search for waiting rows immediately. Called after rows were committed. */
  wake(): void;
}

/**
 * Creates the part that moves the outbox to the event log (docs/architecture.md, “The stages”).
 * Several processes may run it; one works and the others stand by.
 */
export function createRelay(options: RelayOptions): Relay {
  return new OutboxRelay(options);
}

interface SiteTrouble {
  readonly backOff: BackOff;
  retryAt: number;
}

class OutboxRelay implements Relay {
  readonly name = 'relay';
  readonly #sites: SiteRelay;
  readonly #parallel: number;
  readonly #pollMs: number;
  readonly #active = new Map<string, Promise<void>>();
  readonly #trouble = new Map<string, SiteTrouble>();
  #lastStarted = '';
  readonly #wakeUp = new WakeUp();
  #relayed = 0;
  #quarantined = 0;
  #isLeader = false;
  #fatal: unknown = null;

  constructor(private readonly options: RelayOptions) {
    this.#parallel = options.parallelSites ?? 8;
    this.#pollMs = options.pollMs ?? 50;
    this.#sites = new SiteRelay({
      db: options.db,
      eventLog: options.eventLog,
      keyring: options.keyring,
      maxRows: options.maxRows ?? 500,
      maxBytes: options.maxBytes ?? 2_000_000,
      ...(options.tracing && { tracing: options.tracing }),
    });
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
      relayed_events: this.#relayed,
      quarantined_sites: this.#quarantined,
      sites_retrying: this.#trouble.size,
    };
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { db, eventLog } = this.options;
    await assertLogNotBehind(db, eventLog);
    const stop = new AbortController();
    await withAnySignal([signal, stop.signal], (stopped) => this.#relaySites(signal, stopped, stop));
  }

  async #relaySites(signal: AbortSignal, stopped: AbortSignal, stop: AbortController): Promise<void> {
    this.#sites.forget();
    this.#trouble.clear();
    this.#fatal = null;
    this.#isLeader = true;
    const cleaning = this.#clean(stopped);
    try {
      while (!signal.aborted && this.#fatal === null) {
        this.#wakeUp.begin();
        const started = await this.#startSites(stopped);
        if (started === 0) await this.#wakeUp.pause(this.#pollMs, signal);
        else if (this.#active.size >= this.#parallel) await Promise.race(this.#active.values());
      }
      if (this.#fatal !== null) throw this.#fatal;
    } finally {
      stop.abort();
      await Promise.all([cleaning, ...this.#active.values()]);
      this.#isLeader = false;
    }
  }

  async #startSites(signal: AbortSignal): Promise<number> {
    let started = 0;
    const now = performance.now();
    for (const siteId of inTurn(await sitesWaiting(this.options.db), this.#lastStarted)) {
      if (this.#active.size >= this.#parallel) break;
      if (this.#active.has(siteId) || (this.#trouble.get(siteId)?.retryAt ?? 0) > now) continue;
      const work = this.#relaySite(siteId, signal).finally(() => {
        this.#active.delete(siteId);
        this.wake();
      });
      this.#active.set(siteId, work);
      this.#lastStarted = siteId;
      started += 1;
    }
    return started;
  }

  /**
   * Relays a limited number of waiting rows of one site, so that the other sites get their turn.
   * Never throws: after a failure the site is retried later or quarantined, and the other sites
   * continue.
   */
  async #relaySite(siteId: string, signal: AbortSignal): Promise<void> {
    try {
      const relayed = await this.#sites.relaySome(siteId, signal);
      this.#relayed += relayed;
      this.#trouble.delete(siteId);
    } catch (error) {
      await this.#onFailure(siteId, error);
    }
  }

  async #onFailure(siteId: string, error: unknown): Promise<void> {
    const { logger, db } = this.options;
    if (error instanceof RefusedForGood) {
      logger.error(
        { part: this.name, site: siteId, reason: error.message },
        'site quarantined: its next event cannot enter the event log',
      );
      try {
        await quarantineSite(db, siteId, error.message);
        this.#quarantined += 1;
        this.#trouble.delete(siteId);
        return;
      } catch (failure) {
        logger.warn(
          { part: this.name, site: siteId, reason: describe(failure) },
          'quarantining the site failed; trying again',
        );
      }
    } else if (error instanceof OperatorNeeded && !isDivergence(error)) {
      this.#fatal = error;
      this.wake();
      return;
    } else {
      logger.warn({ part: this.name, site: siteId, reason: describe(error) }, 'relaying failed; trying again');
    }
    const trouble = this.#trouble.get(siteId) ?? { backOff: new BackOff(), retryAt: 0 };
    trouble.retryAt = performance.now() + trouble.backOff.next();
    this.#trouble.set(siteId, trouble);
  }

  async #clean(signal: AbortSignal): Promise<void> {
    const { db, logger, retentionMs, retentionEveryMs = 60_000 } = this.options;
    while (!signal.aborted) {
      try {
        const deleted = await deleteStampedRows(db, retentionMs, signal);
        if (deleted > 0) logger.info({ part: this.name, deleted }, 'outbox rows past their retention deleted');
      } catch (error) {
        logger.warn({ part: this.name, reason: describe(error) }, 'deleting old outbox rows failed; trying again');
      }
      await pause(retentionEveryMs, signal);
    }
  }
}

/**
 * Orders the sites so that those after `last` come first. Busy sites then do not delay the others.
 * @param sites sorted
 */
function inTurn(sites: readonly string[], last: string): string[] {
  return [...sites.filter((site) => site > last), ...sites.filter((site) => site <= last)];
}

/**
 * Returns whether an append found a foreign event. The next attempt compares the stream with the
 * outbox and identifies the event.
 */
function isDivergence(error: unknown): boolean {
  return error instanceof LogDiverged;
}
