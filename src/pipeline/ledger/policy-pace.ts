import * as z from 'zod';
import { DEFAULT_POLICY_DELAYS, LEDGER_POLICY_SET } from '../../../schemas/events/ledger-policy.js';
import { PublicEventBody } from '../../../schemas/events/notices.js';
import { parseBody, parseRecord } from '../../../schemas/events/sealed-event.js';
import { POLICY_STREAM } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import { joinFirstStamp } from './stamped.js';

/** How long the service may wait, in milliseconds, and still keep every policy that counts. */
export interface PolicyPace {
  /** From the first event of a batch to its sealing. */
  readonly sealMs: number;
  /** From one time stamp to the next. */
  readonly stampMs: number;
  /** Whether the newest policy alone decides; then it decides until another one is published. */
  readonly isSettled: boolean;
}

/** A published policy and since when verifiers count it for the `created_at` of records. */
export interface PublishedPolicy {
  readonly sealWithinSeconds: number;
  readonly stampWithinSeconds: number;
  /** When its first time stamp was stored, milliseconds since 1970; null: it is not stamped yet. */
  readonly stampedAt: number | null;
}

/** Clocks of the authorities and of the service may differ by as much (docs/evidence-format.md §9). */
const CLOCK_TOLERANCE_MS = 300_000;

/**
 * The pace of sealing and stamping. A policy with longer delays counts for a record only if its time
 * stamp is earlier than the record (docs/evidence-format.md §9, “The ledger's policy”): until all
 * older records must have been stamped, the service keeps the delays before it as well. Half of each
 * delay is left for the work itself.
 * @param policies in the order of their stream
 * @param now milliseconds since 1970
 */
export function policyPace(policies: readonly PublishedPolicy[], now: number): PolicyPace {
  let seal = Number.POSITIVE_INFINITY;
  let stamp = Number.POSITIVE_INFINITY;
  let isSettled = true;
  const before: PublishedPolicy = { ...DEFAULT_POLICY_DELAYS, stampedAt: Number.NEGATIVE_INFINITY };
  const all = [before, ...policies];
  for (let i = all.length - 1; i >= 0; i--) {
    const policy = all[i] ?? before;
    seal = Math.min(seal, policy.sealWithinSeconds);
    stamp = Math.min(stamp, policy.stampWithinSeconds);
    const previous = all[i - 1] ?? before;
    const olderRecordsMs = (previous.sealWithinSeconds + previous.stampWithinSeconds) * 1000;
    if (policy.stampedAt !== null && policy.stampedAt + CLOCK_TOLERANCE_MS + olderRecordsMs <= now) break;
    isSettled = false;
  }
  return { sealMs: seal * 500, stampMs: stamp * 500, isSettled };
}

/**
 * Reads the policies that are published, and computes the pace from them. It comes from tables because
 * it decides only how long to wait, and never what is appended.
 * @param db in the role `consent_ledger_worker`
 * @param now milliseconds since 1970
 * @throws InvalidEventBody, database errors
 */
export async function readPolicyPace(db: Queryable, now: number): Promise<PolicyPace> {
  const { rows } = await db.query(
    `select p.body, stamp.stamped_at
       from ledger_policies p
       left join leaves l on l.stream = $1 and l.revision = p.revision
       ${joinFirstStamp('l.batch', 'stamped_at', 'stamp')}
      where p.type = $2
      order by p.revision`,
    [POLICY_STREAM, LEDGER_POLICY_SET],
  );
  const policies = PolicyRows.parse(rows).map(({ body, stamped_at: stampedAt }): PublishedPolicy => {
    const record = parseRecord(LEDGER_POLICY_SET, parseBody(PublicEventBody, LEDGER_POLICY_SET, body).record);
    return {
      sealWithinSeconds: record.seal_within_seconds,
      stampWithinSeconds: record.stamp_within_seconds,
      stampedAt: stampedAt?.getTime() ?? null,
    };
  });
  return policyPace(policies, now);
}

const PolicyRows = z.array(z.object({ body: z.instanceof(Uint8Array), stamped_at: z.date().nullable() }));
