import { consentsStream, noticesStream, POLICY_STREAM } from '../../../schemas/events/streams.js';
import type { RevisionRun } from '../../../schemas/evidence/batch-header.js';
import { isReceipt, isUnfiltered, type Manifest } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { coverOf } from '../../../schemas/evidence/roll-ups.js';
import { type Batches, lacksStream } from '../batches/batches.js';
import type { Findings } from '../findings/findings.js';

/** How much of one stream the package is shown to hold. */
export interface StreamCoverage {
  readonly stream: string;
  /** Runs of which no revision is missing, those that adjoin joined. */
  readonly complete: readonly { readonly first: number; readonly last: number }[];
  /** No revision from 0 to this one is missing; null if that is not shown. */
  readonly complete_up_to: number | null;
  /**
   * The last revision in the ledger as of the checkpoint, −1 if it has none: shown by all batches.
   * Null if they do not show it.
   */
  readonly ledger_reaches: number | null;
  /** Asked for as a whole, and complete from 0 to where the ledger reaches. */
  readonly is_whole: boolean;
}

/** Coverage of a site's two streams. */
export interface Coverage {
  readonly consents: StreamCoverage;
  readonly notices: StreamCoverage;
  /** Of the ledger's policies. */
  readonly policies: StreamCoverage;
}

/**
 * @param complete runs that were found complete, in order
 * @param size of the package's checkpoint; null if it has none
 */
export function coverageOf(
  { filter }: Manifest,
  complete: readonly RevisionRun[],
  batches: Batches,
  size: number | null,
): Coverage {
  const coverage = (stream: string): StreamCoverage => streamCoverage(stream, complete, batches, size);
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
  const joined: { first: number; last: number }[] = [];
  for (const { first, last } of complete.filter((run) => run.stream === stream)) {
    const before = joined.at(-1);
    if (before !== undefined && before.last + 1 === first) before.last = last;
    else joined.push({ first, last });
  }
  const end = size === null ? null : streamEnd(stream, batches, size);
  const reaches = end?.kind === 'shown' ? end.last : null;
  const [start] = joined;
  const upTo = start?.first === 0 ? start.last : null;
  return {
    stream,
    complete: joined,
    complete_up_to: upTo,
    ledger_reaches: reaches,
    is_whole: reaches !== null && (upTo ?? -1) === reaches,
  };
}

type StreamEnd =
  | { readonly kind: 'shown'; readonly last: number }
  | { readonly kind: 'not-shown'; readonly reason: string };

/**
 * Where a stream ends as of a checkpoint: every batch below it, by itself or by a roll-up over it, shows
 * the stream's run or that it has none, and the runs follow one another from revision 0.
 */
function streamEnd(stream: string, batches: Batches, size: number): StreamEnd {
  let last = -1;
  for (const number of coverOf(size)) {
    const batch = batches.get(number);
    if (batch === undefined) return { kind: 'not-shown', reason: `the package does not include batch ${number}` };
    if (batch.verdict === 'invalid') return { kind: 'not-shown', reason: `batch ${number} failed its checks` };
    const run = batch.runs.find((shown) => shown.stream === stream);
    if (run !== undefined) {
      if (run.first !== last + 1)
        return {
          kind: 'not-shown',
          reason: `batch ${number} continues the stream at revision ${run.first}, not at ${last + 1}`,
        };
      last = run.last;
    } else if (!lacksStream(batch, stream)) {
      return {
        kind: 'not-shown',
        reason: `batch ${number} shows neither events of the stream nor that it has none`,
      };
    }
  }
  return { kind: 'shown', last };
}

/**
 * Holds what the package contains against what its batches prove of the streams. A package of a whole
 * site contains all of its consents as of the checkpoint, and every package all notices of the site:
 * no event can be left off at the end.
 * @param size of the package's checkpoint; null if it has none
 */
export function verifyCoverage(
  manifest: Manifest,
  { consents, notices, policies }: Coverage,
  batches: Batches,
  size: number | null,
  findings: Findings,
): void {
  // Without a checkpoint, nothing is in the ledger as far as the package shows. A receipt claims to
  // hold no stream as a whole.
  if (size === null || isReceipt(manifest)) return;
  if (isUnfiltered(manifest.filter)) verifyWhole(consents, batches, size, findings);
  verifyWhole(notices, batches, size, findings);
  // A policy that is left out could be the stricter one.
  verifyWhole(policies, batches, size, findings);
}

function verifyWhole(
  { stream, complete_up_to: upTo, ledger_reaches: reaches, is_whole: isWhole }: StreamCoverage,
  batches: Batches,
  size: number,
  findings: Findings,
): void {
  if (isWhole) {
    findings.pass('completeness.runs');
    return;
  }
  const end = streamEnd(stream, batches, size);
  if (end.kind === 'not-shown') {
    findings.fail('completeness.runs', `the package does not show where the stream ends: ${end.reason}`, {
      file: PACKAGE_FILES.batches,
      stream,
    });
    return;
  }
  const held = upTo === null ? 'is not complete from revision 0 on' : `is complete only up to revision ${upTo}`;
  findings.fail(
    'completeness.runs',
    `the package must contain the whole stream, but it ${held}; the ledger has revisions up to ${reaches ?? end.last}`,
    { file: PACKAGE_FILES.manifest, stream, revision: upTo === null ? 0 : upTo + 1 },
  );
}
