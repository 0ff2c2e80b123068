import type { KeyObject } from 'node:crypto';
import type pg from 'pg';
import * as z from 'zod';
import { RevisionGap } from '../pipeline/event-log/errors.js';
import type { EventLog, StreamEvent } from '../pipeline/event-log/port.js';
import type { Queryable } from '../platform/database/pool.js';
import { KeyError, type KeyRow, type Keyring, type OpenKeyRow } from '../platform/keys/index.js';
import type { Findings } from './finding.js';

/** Dependencies that all sections of an audit share. */
export interface AuditParts {
  /** A handle in the role `consent_ledger_auditor`. */
  readonly db: pg.Pool;
  /** The handle is only read from. */
  readonly eventLog: EventLog;
  /** The handle is only read from. */
  readonly keyring: Keyring;
  readonly master: KeyObject;
  /** DER of the root certificates of the time stamp authorities. */
  readonly trustAnchors: readonly Uint8Array[];
  /** Time for which time stamps and open promises are verified. */
  readonly now: () => Date;
}

/** A section at work. */
export interface Section extends AuditParts {
  readonly findings: Findings;
  /**
   * Reports progress, rests according to the load, and ends a cancelled audit.
   * @param done number of rows or events so far
   */
  step(done: number, total: number | null): Promise<void>;
}

/** Number of rows that one statement of an audit reads. */
export const PAGE = 500;

const CountRows = z.tuple([z.object({ rows: z.number() })]);

/** Returns the planner's estimate of the number of rows of a table, which is only used to show progress. */
export async function estimatedRows(db: Queryable, table: string): Promise<number | null> {
  const { rows } = await db.query('select reltuples::float8 as rows from pg_class where oid = $1::regclass', [table]);
  const [{ rows: estimate }] = CountRows.parse(rows);
  return estimate < 0 ? null : estimate;
}

/**
 * Reads rows page by page.
 * @param read returns the rows after a key, in the order of the key; fewer than `PAGE` rows end the list
 * @param keyOf key of a row, with which the next page begins
 */
export async function* pagesOf<T>(
  read: (after: string | null) => Promise<readonly T[]>,
  keyOf: (row: T) => string,
): AsyncGenerator<readonly T[]> {
  for (let after: string | null = null; ; ) {
    const page: readonly T[] = await read(after);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < PAGE) return;
    after = keyOf(last);
  }
}

/**
 * Reads the next events of a stream that the log still has, because missing revisions must not end the audit.
 * @param from the first revision to read
 * @param onGap called with the gap before the events, for a section that reports it
 * @returns at most `limit` events without a gap between them; empty at the end of the stream
 */
export async function readPastGaps(
  eventLog: Pick<EventLog, 'readStream'>,
  stream: string,
  from: number,
  limit: number,
  onGap: (gap: RevisionGap) => void = () => undefined,
): Promise<readonly StreamEvent[]> {
  try {
    return await eventLog.readStream(stream, from, limit);
  } catch (error) {
    if (!(error instanceof RevisionGap)) throw error;
    const known = error.expectedRevision - from;
    if (known > 0) return await eventLog.readStream(stream, from, known);
    onGap(error);
    return await readPastGaps(eventLog, stream, error.foundRevision, limit, onGap);
  }
}

/**
 * Opens rows of `record_keys`. Rows that fail, and those of a site whose key is missing or altered, are
 * left out.
 */
export async function openKnownRows(
  keyring: Pick<Keyring, 'siteKey' | 'openKeyRows'>,
  rows: readonly KeyRow[],
): Promise<readonly OpenKeyRow[]> {
  const known = new Set<string>();
  for (const site of new Set(rows.map((row) => row.site_id))) if (await hasKey(keyring, site)) known.add(site);
  return keyring.openKeyRows(rows.filter((row) => known.has(row.site_id)));
}

async function hasKey(keyring: Pick<Keyring, 'siteKey'>, site: string): Promise<boolean> {
  try {
    await keyring.siteKey(site);
    return true;
  } catch (error) {
    if (error instanceof KeyError) return false;
    throw error;
  }
}
