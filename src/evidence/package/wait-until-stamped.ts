import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { consentsStream } from '../../../schemas/events/streams.js';
import { isStamped } from '../../pipeline/ledger/read-checkpoints.js';
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
  const last = await lastAccepted(db, stream);
  return last < 0 || (await until(() => isEventStamped(db, stream, last)));
}

/** @returns revision of the newest event; -1: there is none */
async function lastAccepted(db: Queryable, stream: string): Promise<number> {
  const { rows } = await db.query('select next_revision - 1 as revision from event_log.streams where name = $1', [
    stream,
  ]);
  const [row] = z
    .array(z.object({ revision: z.int() }))
    .max(1)
    .parse(rows);
  return row?.revision ?? -1;
}

async function isEventStamped(db: Queryable, stream: string, revision: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from leaves where stream = $1 and revision = $2 and ${isStamped('batch')}`,
    [stream, revision],
  );
  return rowCount === 1;
}
