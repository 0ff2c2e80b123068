import type pg from 'pg';
import type { BackgroundPart, Log, PartStatus } from '../../platform/background/part.js';
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
import { parkSite } from './parked-sites.js';
import { RefusedForGood, SiteRelay } from './relay-site.js';
import { deleteStampedRows } from './retention.js';

export interface RelayOptions {
  /** As `consent_ledger_worker`, with at least `parallelSites` + 2 connections. */
  readonly pool: pg.Pool;
  readonly log: EventLog;
  readonly keyring: ProofKeys;
  readonly logger: Log;
  /** Sites relayed at the same time. */
  readonly parallelSites?: number;
  /** How often waiting rows are looked for when there is nothing to do, in milliseconds. */
  readonly pollMs?: number;
  /** Relayed rows are kept until their batch is stamped and they are older than this, in milliseconds. */
  readonly retentionMs: number;
  /** How often rows past their retention are deleted, in milliseconds. */
  readonly retentionEveryMs?: number;
  /** Rows, and bytes of bodies, of one site held in memory at a time. */
  readonly maxRows?: number;
  readonly maxBytes?: number;
  readonly tracing?: Tracing;
}

export interface Relay extends BackgroundPart {
  /** Looks for waiting rows at once: a hint for whoever has just committed some. */
  wake(): void;
}

/** Moves the outbox to the event log (docs/architecture.md, “The stages”). Any number may run; one works, the others stand by. */
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
  #parked = 0;
  #isLeader = false;
  #fatal: unknown = null;

  constructor(private readonly options: RelayOptions) {
    this.#parallel = options.parallelSites ?? 8;
    this.#pollMs = options.pollMs ?? 50;
    this.#sites = new SiteRelay({
      pool: options.pool,
      log: options.log,
      keyring: options.keyring,
      maxRows: options.maxRows ?? 500,
      maxBytes: options.maxBytes ?? 2_000_000,
      ...(options.tracing && { tracing: options.tracing }),
    });
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
      relayed_events: this.#relayed,
      parked_sites: this.#parked,
      sites_retrying: this.#trouble.size,
    };
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { pool, log } = this.options;
    await assertLogNotBehind(pool, log);
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
    for (const siteId of inTurn(await sitesWaiting(this.options.pool), this.#lastStarted)) {
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
   * Relays some of what one site has waiting: then it is others' turn. Never throws: a site in trouble is tried again later, or parked; the
   * others go on.
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
    const { logger, pool } = this.options;
    if (error instanceof RefusedForGood) {
      logger.error(
        { part: this.name, site: siteId, reason: error.message },
        'site quarantined: its next event cannot enter the event log',
      );
      try {
        await parkSite(pool, siteId, error.message);
        this.#parked += 1;
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
    const { pool, logger, retentionMs, retentionEveryMs = 60_000 } = this.options;
    while (!signal.aborted) {
      try {
        const deleted = await deleteStampedRows(pool, retentionMs, signal);
        if (deleted > 0) logger.info({ part: this.name, deleted }, 'outbox rows past their retention deleted');
      } catch (error) {
        logger.warn({ part: this.name, reason: describe(error) }, 'deleting old outbox rows failed; trying again');
      }
      await pause(retentionEveryMs, signal);
    }
  }
}

/** The sites behind `last` first, so that busy ones do not keep the others waiting. @param sites sorted */
function inTurn(sites: readonly string[], last: string): string[] {
  return [...sites.filter((site) => site > last), ...sites.filter((site) => site <= last)];
}

/** An append that met another event than its own: comparing the stream with the outbox (the next try does) shows whose it is. */
function isDivergence(error: unknown): boolean {
  return error instanceof LogDiverged;
}
