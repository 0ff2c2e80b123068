import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { Batch, Batches } from '../batches/batches.js';
import type { Findings } from '../findings/findings.js';
import type { Stamps } from '../timestamps/stamp.js';
import { CLOCK_TOLERANCE_MS } from './claimed-times.js';
import type { ProvedTime, StampedTimes } from './stamped-times.js';

/** Between which proved times a batch was sealed. */
export interface SealingInterval {
  readonly batch: number;
  /** Null where no earlier stamp is named, enclosed and sound. */
  readonly after: ProvedTime | null;
  readonly before: ProvedTime | null;
}

/**
 * Derives the interval of every batch, and verifies the stamp that its header names as older, and
 * the time that it claims.
 */
export function verifyBatchTimes(
  batches: Batches,
  stamps: Stamps,
  times: StampedTimes,
  findings: Findings,
): readonly SealingInterval[] {
  return [...batches.values()].map((batch) => {
    const at = { file: PACKAGE_FILES.batches, line: batch.line };
    const before = times.endOf(batch.header.number);
    const after = startOf(batch, stamps, times, findings);
    const sealedAt = Date.parse(batch.header.sealed_at);
    const isTooLate = before !== null && sealedAt > before.time + before.accuracy + CLOCK_TOLERANCE_MS;
    const isTooEarly = after !== null && sealedAt < after.time - after.accuracy - CLOCK_TOLERANCE_MS;
    if (isTooLate || isTooEarly)
      findings.fail('time.claimed', `batch ${batch.header.number} has a sealed_at that the time stamps contradict`, at);
    return { batch: batch.header.number, after, before };
  });
}

function startOf({ header, line }: Batch, stamps: Stamps, times: StampedTimes, findings: Findings): ProvedTime | null {
  const at = { file: PACKAGE_FILES.batches, line };
  if (header.after === null) {
    findings.skip('time.start', 'the batch was sealed before the first time stamp');
    return null;
  }
  const { size, sha256 } = header.after;
  const own = stamps.filter((stamp) => stamp.size === size);
  if (own.length === 0) {
    findings.open(
      'time.start',
      `the time stamp over checkpoint ${size}, after which the batch was sealed, is not in the package`,
      at,
    );
    return null;
  }
  const stamp = own.find((one) => one.sha256 === sha256);
  if (stamp === undefined) {
    findings.fail('time.start', `no time stamp over checkpoint ${size} is the one that the batch names`, at);
    return null;
  }
  const proved = times.in(stamp.file);
  if (proved === null) findings.open('time.start', 'the time stamp after which the batch was sealed is not valid', at);
  else findings.pass('time.start');
  return proved;
}
