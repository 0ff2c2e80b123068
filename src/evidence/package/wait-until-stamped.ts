import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { consentsStream } from '../../../schemas/events/streams.js';
import { isStamped } from '../../pipeline/ledger/stamped.js';
import type { Queryable } from '../../platform/database/pool.js';

export interface WaitOptions {
  /** Longest wait, in milliseconds. */
  readonly atMostMs: number;
  /** Called once, if a wait is necessary. */
  readonly onWaiting?: () => void;
  readonly pollMs?: number;
}

/**
 * Waits until a time stamp covers every consent of a site that is accepted at the time of the call.
 * Later consents are not awaited, so that a busy site does not extend the wait.
 * @returns false if the time ran out
 */
export async function waitUntilStamped(
  db: Queryable,
  siteId: string,
  { atMostMs, onWaiting = () => undefined, pollMs = 500 }: WaitOptions,
): Promise<boolean> {
  const giveUp = performance.now() + atMostMs;
  const stream = consentsStream(siteId);
  let isTold = false;
  const until = async (isDone: () => Promise<boolean>): Promise<boolean> => {
    while (!(await isDone())) {
      if (performance.now() >= giveUp) return false;
      if (!isTold) onWaiting();
      isTold = true;
      await sleep(pollMs);
    }
    return true;
  };
  const lastAccepted = await lastInOutbox(db, siteId, stream);
  if (!(await until(() => isRelayed(db, siteId, stream, lastAccepted)))) return false;
  const revision = await lastInLog(db, stream);
  return revision === null || (await until(() => isEventStamped(db, stream, revision)));
}

async function lastInOutbox(db: Queryable, siteId: string, stream: string): Promise<number> {
  const { rows } = await db.query(
    `select coalesce(max(o.seq), 0) as seq from outbox_waiting w join outbox o on o.seq = w.seq
      where w.site_id = $1 and o.stream = $2`,
    [siteId, stream],
  );
  return z.tuple([z.object({ seq: z.int() })]).parse(rows)[0].seq;
}

async function isRelayed(db: Queryable, siteId: string, stream: string, seq: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from outbox_waiting w join outbox o on o.seq = w.seq
      where w.site_id = $1 and w.seq <= $3 and o.stream = $2 limit 1`,
    [siteId, stream, seq],
  );
  return rowCount === 0;
}

async function lastInLog(db: Queryable, stream: string): Promise<number | null> {
  const { rows } = await db.query('select revision from relayed_streams where stream = $1', [stream]);
  const [row] = z
    .array(z.object({ revision: z.int() }))
    .max(1)
    .parse(rows);
  return row?.revision ?? null;
}

async function isEventStamped(db: Queryable, stream: string, revision: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from leaves where stream = $1 and revision = $2 and ${isStamped('batch')}`,
    [stream, revision],
  );
  return rowCount === 1;
}
