import * as z from 'zod';
import { POLICY_STREAM } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EventLog } from '../event-log/port.js';
import { readPolicyStream } from './policy-stream.js';
import { policyOf } from './publish-policy.js';

/** How many distinct authorities must stamp the next checkpoint, and why. */
export interface StampsDemanded {
  readonly authorities: number;
  /**
   * Number of the first policy with fewer stamps that is not in effect yet; null if none waits. It counts
   * from the first checkpoint over it on that has as many authorities.
   */
  readonly waitingPolicy: number | null;
}

const BatchRows = z.array(z.object({ revision: z.int(), batch: z.int() }));
const CountRows = z.tuple([z.object({ authorities: z.int() })]);

/** Time stamps over a policy that are read: the first checkpoint over it has enough of them. */
const MAX_TOKENS_READ = 1_000;

/**
 * Reads how many distinct authorities must stamp the next checkpoint. A policy with fewer `stamps` counts
 * only after a checkpoint that contains it has the stamps that were demanded before
 * (docs/evidence-format.md §9, “A lowered number of stamps”).
 * The policies come from the log. Where they are sealed and who stamped them comes from tables: a row that
 * is wrong for a moment can only complete one checkpoint too early or too late, and the next one, which is
 * decided anew, covers everything before it.
 * @param configured number of authorities that the configuration demands
 * @throws InvalidEventBody, EventLogUnavailable, database errors
 */
export async function readStampsDemanded(
  db: Queryable,
  eventLog: EventLog,
  configured: number,
): Promise<StampsDemanded> {
  const { rows } = await db.query('select revision, batch from leaves where stream = $1', [POLICY_STREAM]);
  const batches = new Map(BatchRows.parse(rows).map(({ revision, batch }) => [revision, batch]));
  let demanded = 1;
  let waitingPolicy: number | null = null;
  for (const event of await readPolicyStream(eventLog)) {
    const policy = policyOf(event);
    if (policy === null) continue;
    const { stamps, number } = policy;
    const batch = batches.get(event.revision);
    const isLowered = stamps < demanded;
    if (!isLowered || (batch !== undefined && (await countAuthorities(db, batch)) >= demanded)) {
      demanded = stamps;
      waitingPolicy = null;
    } else waitingPolicy ??= number;
  }
  return { authorities: Math.max(configured, demanded), waitingPolicy };
}

/** Number of distinct authorities whose time stamps over stamped checkpoints cover a batch. */
async function countAuthorities(db: Queryable, batch: number): Promise<number> {
  const { rows } = await db.query(
    `select count(distinct organization) as authorities from (
       select t.organization from checkpoint_tokens t join checkpoints c on c.size = t.size
        where t.size > $1 order by t.size limit $2) as covering`,
    [batch, MAX_TOKENS_READ],
  );
  return CountRows.parse(rows)[0].authorities;
}
