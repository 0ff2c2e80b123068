import { consentsStream, noticesStream, POLICY_STREAM } from '../../../schemas/events/streams.js';
import type { RevisionRun } from '../../../schemas/evidence/batch-header.js';
import { isReceipt, isUnfiltered, type Manifest } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { coverOf } from '../../../schemas/evidence/roll-ups.js';
import type { Batches } from '../batches/batches.js';
import type { CheckId, Outcome } from '../findings/checks.js';
import { type Finding, finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';
import type { CompleteRuns } from './runs.js';

/** How much of one stream the package provably contains. */
export interface StreamCoverage {
  readonly stream: string;
  /** Runs without a missing revision. Adjacent runs are joined. */
  readonly complete: readonly { readonly first: number; readonly last: number }[];
  /** The last revision up to which none is missing from 0 on, or null if that is not shown. */
  readonly complete_up_to: number | null;
  /**
   * The last revision in the ledger as of the checkpoint, as all batches show; −1 if it has none, or null if they do
   * not show it.
   */
  readonly ledger_reaches: number | null;
  /** The stream was requested as a whole, and is complete from 0 to where the ledger reaches. */
  readonly is_whole: boolean;
}

/** Coverage of a site's two streams. */
export interface Coverage {
  readonly consents: StreamCoverage;
  readonly notices: StreamCoverage;
  /** Coverage of the stream of the ledger's policies. */
  readonly policies: StreamCoverage;
}

function coverageOf({ manifest: { filter }, runs, batches, size }: Shown): Coverage {
  const coverage = (stream: string): StreamCoverage => streamCoverage(stream, runs.complete, batches, size);
  const consents = coverage(consentsStream(filter.site_id));
  return {
    consents: { ...consents, is_whole: consents.is_whole && isUnfiltered(filter) },
    notices: coverage(noticesStream(filter.site_id)),
    policies: coverage(POLICY_STREAM),
  };
}

function streamCoverage(
  stream: string,
  complete: readonly RevisionRun[],
  batches: Batches,
  size: number | null,
): StreamCoverage {
  const joined = joinedRuns(stream, complete);
  const end = size === null ? null : streamEnd(stream, batches, size);
  const reaches = end?.kind === 'shown' ? end.last : null;
  const upTo = completeUpTo(joined);
  return {
    stream,
    complete: joined,
    complete_up_to: upTo,
    ledger_reaches: reaches,
    is_whole: reaches !== null && (upTo ?? -1) === reaches,
  };
}

interface JoinedRun {
  readonly first: number;
  readonly last: number;
}

function joinedRuns(stream: string, runs: readonly RevisionRun[]): readonly JoinedRun[] {
  const joined: { first: number; last: number }[] = [];
  for (const { first, last } of runs.filter((run) => run.stream === stream)) {
    const before = joined.at(-1);
    if (before !== undefined && before.last + 1 === first) before.last = last;
    else joined.push({ first, last });
  }
  return joined;
}

function completeUpTo([start]: readonly JoinedRun[]): number | null {
  return start?.first === 0 ? start.last : null;
}

type StreamEnd =
  | { readonly kind: 'shown'; readonly last: number }
  /** True if a batch has an unknown version. The stream then has at least the revisions up to `last`. */
  | { readonly kind: 'unknown'; readonly last: number; readonly batch: number }
  | { readonly kind: 'not-shown'; readonly reason: Finding; readonly because?: CheckId | null };

/**
 * Finds the end of a stream as of a checkpoint. Every batch below the checkpoint must show the stream's run, or that it
 * has none, by itself or by a roll-up over it. The runs must follow one another from revision 0.
 */
function streamEnd(stream: string, batches: Batches, size: number): StreamEnd {
  let last = -1;
  let unknown: number | null = null;
  /** Whether a batch in between may have revisions of the stream. */
  let mayContinue = false;
  for (const number of coverOf(size)) {
    if (batches.unknown.has(number)) {
      unknown ??= number;
      mayContinue = true;
      continue;
    }
    const batch = batches.get(number);
    if (batch === undefined) return { kind: 'not-shown', reason: finding('batch-missing', { batch: number }) };
    if (batch.verdict === 'invalid')
      return { kind: 'not-shown', reason: finding('batch-failed', { batch: number }), because: batch.cause };
    const run = batch.runs.find((shown) => shown.stream === stream);
    if (run !== undefined) {
      const follows = mayContinue ? run.first > last : run.first === last + 1;
      if (!follows)
        return {
          kind: 'not-shown',
          reason: finding('stream-continues-elsewhere', { batch: number, revision: run.first, expected: last + 1 }),
        };
      last = run.last;
      mayContinue = false;
    } else if (!batch.lacking.includes(stream)) {
      return {
        kind: 'not-shown',
        reason: finding('stream-not-shown', { batch: number }),
      };
    }
  }
  return unknown === null ? { kind: 'shown', last } : { kind: 'unknown', last, batch: unknown };
}

/** The last events of a stream that a package contains without a gap. */
export interface StreamTail {
  /** First revision of the tail; infinite if the package does not contain the end of the stream. */
  readonly first: number;
  /** Whether a batch of an unknown version may have further events of the stream. */
  readonly isOpen: boolean;
}

export const NO_TAIL: StreamTail = { first: Number.POSITIVE_INFINITY, isOpen: false };

function tailOf(stream: string, { runs, batches, size }: Shown): StreamTail {
  const last = joinedRuns(stream, runs.held).at(-1);
  if (last === undefined || size === null) return NO_TAIL;
  const end = streamEnd(stream, batches, size);
  if (end.kind === 'not-shown') return NO_TAIL;
  const isEnd = end.kind === 'shown' ? last.last === end.last : last.last >= end.last;
  return isEnd ? { first: last.first, isOpen: end.kind === 'unknown' } : NO_TAIL;
}

/** Parts of the package that show how much of its streams it has. */
interface Shown<M = Manifest> {
  readonly manifest: M;
  readonly runs: Pick<CompleteRuns, 'complete' | 'held'>;
  readonly batches: Batches;
  /** Size of the package's checkpoint, or null if it has none. */
  readonly size: number | null;
  readonly findings: Findings;
}

/** Result of the checks of a package's streams. */
export interface Covered {
  /** Null if there is no manifest. */
  readonly coverage: Coverage | null;
  /** Tail of the stream of consents. */
  readonly tail: StreamTail;
  /** Outcome for the ledger's policies. */
  readonly policies: Outcome;
}

/**
 * Compares what the package contains with what its batches prove about the streams. A package of a whole site contains
 * all of its consents as of the checkpoint, and every package contains all notices of the site, so no event can be cut
 * off at the end (docs/evidence-format.md §10).
 */
export function verifyCoverage({ manifest, ...rest }: Shown<Manifest | null>): Covered {
  if (manifest === null) return { coverage: null, tail: NO_TAIL, policies: 'not-applicable' };
  const shown = { manifest, ...rest };
  const coverage = coverageOf(shown);
  const tail = tailOf(coverage.consents.stream, shown);
  const { size } = shown;
  // Without a checkpoint, the package does not show that anything is in the ledger. A receipt does not claim to contain
  // any stream completely.
  if (size === null || isReceipt(manifest)) return { coverage, tail, policies: 'not-applicable' };
  if (isUnfiltered(manifest.filter)) verifyWhole(coverage.consents, size, shown);
  verifyWhole(coverage.notices, size, shown);
  // A missing policy could be the stricter one.
  return { coverage, tail, policies: verifyWhole(coverage.policies, size, shown) };
}

function verifyWhole(
  { stream, complete_up_to: upTo, is_whole: isWhole }: StreamCoverage,
  size: number,
  { runs, batches, findings }: Shown,
): Outcome {
  if (isWhole) {
    findings.pass('completeness.runs');
    return 'pass';
  }
  const end = streamEnd(stream, batches, size);
  if (end.kind === 'not-shown') {
    const at = { file: PACKAGE_FILES.batches, stream };
    const message = finding('stream-end-not-shown', { reason: end.reason });
    findings.fail('completeness.runs', message, at, end.because);
    return 'fail';
  }
  const heldUpTo = completeUpTo(joinedRuns(stream, runs.held)) ?? -1;
  if (end.kind === 'unknown' && heldUpTo >= end.last) {
    const message = finding('stream-may-continue', { batch: end.batch });
    findings.open('completeness.runs', message, { file: PACKAGE_FILES.batches, stream });
    return 'indeterminate';
  }
  if (end.kind === 'shown' && heldUpTo === end.last) {
    const message = finding('stream-unknown-entries');
    findings.open('completeness.runs', message, { file: PACKAGE_FILES.entries, stream });
    return 'indeterminate';
  }
  findings.fail(
    'completeness.runs',
    upTo === null
      ? finding('stream-begins-late', { last: end.last })
      : finding('stream-ends-early', { upTo, last: end.last }),
    { file: PACKAGE_FILES.manifest, stream, revision: upTo === null ? 0 : upTo + 1 },
  );
  return 'fail';
}
