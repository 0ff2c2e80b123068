import * as z from 'zod';
import { pause } from '../../platform/background/waiting.js';
import type { Queryable } from '../../platform/database/pool.js';

/** Part of the outbox that an import leaves to visitors. */
const SHARE = 0.5;
const LOOK_EVERY_MS = 250;
/** An import does not wait longer for a worker that does not run, in milliseconds. */
const PATIENCE_MS = 600_000;

const Waiting = z.tuple([z.object({ waiting: z.int() })]);

/** No worker takes the events. What was written stays. */
export class OutboxFull extends Error {
  override readonly name = 'OutboxFull';
}

/**
 * Waits until half of the outbox is free: with a full one, the service would refuse consents.
 * @param db in a role that reads the outbox
 * @param maxRows events at which the outbox is full
 * @throws OutboxFull
 */
export async function waitForRoom(db: Queryable, maxRows: number): Promise<void> {
  const limit = Math.max(1, Math.floor(maxRows * SHARE));
  for (const start = performance.now(); ; ) {
    const { rows } = await db.query({
      name: 'outbox_room',
      text: 'select coalesce(sum(w.count), 0) as waiting from (select count from event_log.waiting limit $1) w',
      values: [limit],
    });
    if (Waiting.parse(rows)[0].waiting < limit) return;
    if (performance.now() - start > PATIENCE_MS)
      throw new OutboxFull('The events that were written wait for the event log. Start the worker.');
    await pause(LOOK_EVERY_MS);
  }
}
