import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { Batch, Batches } from '../batches/batches.js';
import type { CheckId } from '../findings/checks.js';
import { EntryFindings } from '../findings/entry-findings.js';
import { finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';
import type { Verdict } from '../findings/verdict.js';
import type { Policies } from '../policy/policies.js';
import { causeOfNoStamp, causeOfStamp, type Stamps } from '../timestamps/stamp.js';
import { WORK, type WorkMeter } from '../work/work-meter.js';
import { CLOCK_TOLERANCE_MS } from './claimed-times.js';
import type { ProvedTime, StampedTimes } from './stamped-times.js';

/** The proved times between which a batch was sealed. */
export interface SealingInterval {
  readonly batch: number;
  /** Null if no stamp before the sealing is proved. */
  readonly after: ProvedTime | null;
  readonly before: ProvedTime | null;
  /** Verdict of these checks on the batch. */
  readonly verdict: Verdict;
  /** The check that determined the verdict, or null if the verdict is valid. */
  readonly cause: CheckId | null;
}

/** Inputs from which the intervals are derived. */
export interface BatchTimesContext {
  readonly batches: Batches;
  readonly stamps: Stamps;
  readonly times: StampedTimes;
  readonly policies: Policies;
  /** Returns whether the package includes entries of this batch. A header alone dates no record. */
  readonly holds: (batch: number) => boolean;
  readonly findings: Findings;
  readonly work: WorkMeter;
}

/**
 * Derives the interval of every batch, in order (docs/evidence-format.md §9). Verifies the older stamp that its header
 * names, and the time that it claims.
 */
export function verifyBatchTimes(context: BatchTimesContext): readonly SealingInterval[] {
  const intervals: SealingInterval[] = [];
  let newest: ProvedTime | null = null;
  for (const batch of context.batches.values()) {
    const { number } = batch.header;
    // Each batch is compared with the stamps.
    if (!context.work.take(WORK.comparison * (context.stamps.length + 1))) break;
    const at = { file: PACKAGE_FILES.batches, line: batch.line };
    const findings = new EntryFindings(context.findings, at);
    const after = verifyStart(batch, newest, context, findings);
    if (batch.verdict !== 'invalid' && after !== null && (newest === null || after.time > newest.time)) newest = after;
    const before = context.times.endOf(number);
    verifySealedAt(batch, after, before, context, findings);
    intervals.push({ batch: number, after, before, verdict: findings.verdict, cause: findings.cause });
  }
  return intervals;
}

function verifySealedAt(
  { header }: Batch,
  after: ProvedTime | null,
  before: ProvedTime | null,
  { policies, holds }: BatchTimesContext,
  findings: EntryFindings,
): void {
  const sealedAt = Date.parse(header.sealed_at);
  const isTooLate = before !== null && sealedAt > before.time + before.accuracy + CLOCK_TOLERANCE_MS;
  const isTooEarly = after !== null && sealedAt < after.time - after.accuracy - CLOCK_TOLERANCE_MS;
  if (isTooLate || isTooEarly) {
    findings.fail('time.claimed', finding('sealed-at-contradicted', { batch: header.number }));
    return;
  }
  // Entries are compared with the end on their own. Batch 0 shows when the ledger began.
  if (header.number !== 0 || holds(0) || before === null) return;
  const delay = before.time + before.accuracy - sealedAt;
  const allowed = policies.inForceAt(0).stampWithinMs + CLOCK_TOLERANCE_MS;
  if (delay > allowed) findings.open('time.claimed', finding('first-batch-stamped-late', { delay }));
}

/**
 * Verifies the older stamp that a header names.
 * @param inherited the newest proved start of an earlier batch, which applies because batches are sealed in order
 * @returns the time after which the batch was sealed, or null if none is proved
 */
function verifyStart(
  batch: Batch,
  inherited: ProvedTime | null,
  context: BatchTimesContext,
  findings: EntryFindings,
): ProvedTime | null {
  const { header } = batch;
  const { stamps, times, holds } = context;
  const denied = deniedStamp(batch, times);
  if (holds(header.number) && denied !== null) {
    const delay = Date.parse(header.sealed_at) - denied.time;
    const { size } = denied;
    findings.open(
      'time.start',
      header.after === null
        ? finding('stamp-not-named', { delay, size })
        : finding('older-stamp-named', { delay, size }),
    );
    return inherited;
  }
  if (header.after === null) {
    verifyUnnamed(batch, context, findings);
    return inherited;
  }
  const { size, sha256 } = header.after;
  const included = stamps.filter((one) => one.size === size);
  const stamp = included.find((one) => one.sha256 === sha256);
  if (stamp === undefined && included.length > 0) {
    findings.fail('time.start', finding('named-stamp-differs', { size }));
    return null;
  }
  const own = stamp === undefined ? null : times.in(stamp.file);
  if (own !== null) {
    findings.pass('time.start');
    return inherited !== null && inherited.time > own.time ? inherited : own;
  }
  if (!holds(header.number)) return inherited;
  if (isFresh(batch, inherited, context)) findings.pass('time.start');
  else
    findings.open(
      'time.start',
      stamp === undefined ? finding('named-stamp-missing', { size }) : finding('named-stamp-invalid'),
      stamp === undefined ? causeOfNoStamp(context.findings) : causeOfStamp(stamp.report),
    );
  return inherited;
}

/**
 * Finds the newest valid stamp that the header does not name although it existed before `sealed_at`. A service that
 * omits stamps could backdate records.
 */
function deniedStamp({ header }: Batch, times: StampedTimes): ProvedTime | null {
  const latest = Date.parse(header.sealed_at) - CLOCK_TOLERANCE_MS;
  const named = header.after?.size ?? 0;
  const isDenied = ({ size, time, accuracy }: ProvedTime) =>
    size > named && size <= header.number && time + accuracy < latest;
  return times.all.findLast(isDenied) ?? null;
}

/**
 * Verifies a batch that names no older stamp, and must therefore have been sealed before the first one. Batch 0 proves
 * that, if all stamps that the package includes over it also cover this batch.
 */
function verifyUnnamed({ header }: Batch, { batches, holds }: BatchTimesContext, findings: EntryFindings): void {
  const { number } = header;
  if (number === 0 || batches.has(0) || !holds(number))
    findings.report('time.start', 'not-applicable', finding('before-first-stamp'));
  else findings.open('time.start', finding('first-batch-missing', { batch: number }));
}

/** Returns whether the start of an earlier batch is within the delays of the policy. */
function isFresh({ header }: Batch, start: ProvedTime | null, { policies }: BatchTimesContext): boolean {
  const { sealWithinMs, stampWithinMs } = policies.inForceAt(header.number);
  return start !== null && Date.parse(header.sealed_at) - start.time <= sealWithinMs + stampWithinMs;
}
