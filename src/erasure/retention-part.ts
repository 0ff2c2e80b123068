import type pg from 'pg';
import * as z from 'zod';
import { type BackgroundPart, describe, runUnderLease, type ServiceLogger } from '../platform/background/part.js';
import { pause } from '../platform/background/waiting.js';
import { ClockNotTrusted, type TrustedClock } from '../platform/clock.js';
import { firstEventIdAt } from '../platform/event-ids.js';
import { type RowSeals, sealedRows } from '../platform/keys/index.js';
import { type ErasureOptions, eraseSubject } from './erase-subject.js';

export interface RetentionOptions extends ErasureOptions {
  /** A pool, because the lease holds a separate connection. */
  readonly db: pg.Pool;
  readonly keyring: ErasureOptions['keyring'] & RowSeals;
  readonly logger: ServiceLogger;
  /**
   * The clock by which batches are sealed. It throws ClockNotTrusted if it differs from the database's or has jumped.
   */
  readonly clock: TrustedClock;
  /** Interval at which all sites are checked, in milliseconds. */
  readonly everyMs?: number;
}

const DAY_MS = 86_400_000;
const EVERY_MS = 3_600_000;
/** Milliseconds until the next attempt when the clock was not trusted. */
const CLOCK_RETRY_MS = 60_000;
const LimitedSite = z.object({ id: z.string(), retention_days: z.int() });
type LimitedSite = z.infer<typeof LimitedSite>;

/**
 * Creates the part that erases records older than their site's retention period. Several processes may run it; a lease
 * lets one of them work. An erasure because of a wrong clock could not be undone. Age is therefore measured by the
 * database's clock, and nothing is erased while the clocks are not trusted.
 */
export function createRetention(options: RetentionOptions): BackgroundPart {
  const { db, logger, clock, everyMs = EVERY_MS } = options;
  let erasedRecords = 0;
  let failures = 0;
  let looks = 0;

  const eraseOld = async ({ id, retention_days: days }: LimitedSite): Promise<void> => {
    const before = new Date((await trustedNow(db, clock)).getTime() - days * DAY_MS);
    const receipt = await eraseSubject(options, { siteId: id, by: { kind: 'retention', before } });
    erasedRecords += receipt.erasedRecords;
    if (receipt.erasedRecords > 0) {
      logger.info(
        { part: 'retention', site: id, records: receipt.erasedRecords },
        'erased records older than the retention period',
      );
    }
  };

  /** Checks all sites. @returns false if the clock was not trusted */
  const lookThrough = async (signal: AbortSignal): Promise<boolean> => {
    try {
      for (const site of await sitesWithOldRecords(options, await trustedNow(db, clock))) {
        if (signal.aborted) return true;
        await eraseOld(site).catch((error: unknown) => {
          if (error instanceof ClockNotTrusted) throw error;
          failures += 1;
          logger.warn({ part: 'retention', site: site.id, reason: describe(error) }, 'failed; trying again');
        });
      }
      return true;
    } catch (error) {
      if (!(error instanceof ClockNotTrusted)) throw error;
      failures += 1;
      logger.error(
        { part: 'retention', reason: error.message },
        'no records are erased by age, because the clock cannot be trusted',
      );
      return false;
    }
  };

  const work = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const isTrusted = await lookThrough(signal);
      looks += 1;
      await pause(isTrusted ? everyMs : Math.min(everyMs, CLOCK_RETRY_MS), signal);
    }
  };
  return {
    name: 'retention',
    status: () => ({ looks, erased_records: erasedRecords, failures }),
    run: (signal) => runUnderLease({ db, name: 'retention', logger, work }, signal),
  };
}

const clockRows = z.tuple([z.object({ now: z.date() })]);

/** Returns the earlier of the database's time and the process's time. @throws ClockNotTrusted */
async function trustedNow(db: pg.Pool, clock: TrustedClock): Promise<Date> {
  const own = await clock();
  const [{ now }] = clockRows.parse((await db.query('select clock_timestamp() as now')).rows);
  return now < own ? now : own;
}

/**
 * Finds the sites that have records to erase, so that no request is recorded for the others. A site whose row was
 * altered is left out, because no backup undoes an erasure.
 */
async function sitesWithOldRecords(
  { db, keyring }: Pick<RetentionOptions, 'db' | 'keyring'>,
  now: Date,
): Promise<readonly LimitedSite[]> {
  const where = 'retention_days is not null order by id';
  const due: LimitedSite[] = [];
  for (const row of await sealedRows(db, { table: 'sites', where, values: [] })) {
    const site = await keyring.open(row, LimitedSite);
    if (site === null) continue;
    const before = new Date(now.getTime() - site.retention_days * DAY_MS);
    const { rowCount } = await db.query(
      `(select from record_keys where site_id = $1 and event_id < $2 limit 1)
       union all (select from test_records where site_id = $1 and created_at < $3 limit 1) limit 1`,
      [site.id, firstEventIdAt(before), before],
    );
    if (rowCount === 1) due.push(site);
  }
  return due;
}
