import { consentsStream, noticesStream, POLICY_STREAM } from '../../../schemas/events/streams.js';
import type { StreamRun } from '../../../schemas/evidence/batch-header.js';
import { isUnfiltered, type Manifest } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { Batches } from '../batches/batches.js';
import type { Findings } from '../findings/findings.js';

/** How much of one stream the package is shown to hold. */
export interface StreamCoverage {
  readonly stream: string;
  /** Runs of which no revision is missing, those that adjoin joined. */
  readonly complete: readonly { readonly first: number; readonly last: number }[];
  /** No revision from 0 to this one is missing; null if that is not shown. */
  readonly complete_up_to: number | null;
  /** The highest revision in the included batches; null if none. The ledger may have more. */
  readonly ledger_reaches: number | null;
  /**
   * Asked for as a whole, and complete from 0 to as far as the enclosed batches reach. A filtered
   * package may end earlier than the ledger.
   */
  readonly is_whole: boolean;
}

/** Coverage of a site's two streams. */
export interface Coverage {
  readonly consents: StreamCoverage;
  readonly notices: StreamCoverage;
  /** Of the ledger's policies. */
  readonly policies: StreamCoverage;
}

/** @param complete runs that were found complete, in order */
export function coverageOf({ filter }: Manifest, complete: readonly StreamRun[], batches: Batches): Coverage {
  const consents = streamCoverage(consentsStream(filter.site_id), complete, batches);
  return {
    consents: { ...consents, is_whole: consents.is_whole && isUnfiltered(filter) },
    notices: streamCoverage(noticesStream(filter.site_id), complete, batches),
    policies: streamCoverage(POLICY_STREAM, complete, batches),
  };
}

/** Every package is asked to hold all notices. */
function streamCoverage(stream: string, complete: readonly StreamRun[], batches: Batches): StreamCoverage {
  const joined: { first: number; last: number }[] = [];
  for (const { first, last } of complete.filter((run) => run.stream === stream)) {
    const before = joined.at(-1);
    if (before !== undefined && before.last + 1 === first) before.last = last;
    else joined.push({ first, last });
  }
  let reaches: number | null = null;
  for (const { runs } of batches.values()) {
    for (const run of runs) if (run.stream === stream) reaches = Math.max(reaches ?? 0, run.last);
  }
  const [start] = joined;
  const upTo = start?.first === 0 ? start.last : null;
  return {
    stream,
    complete: joined,
    complete_up_to: upTo,
    ledger_reaches: reaches,
    is_whole: upTo !== null && upTo >= (reaches ?? 0),
  };
}

/**
 * Holds what the manifest claims against what its batches prove of the streams. A package of a
 * whole site that claims runs of its consents claims all of them as of its checkpoint, and so does
 * every package for the site's notices: the last events cannot be left off.
 */
export function verifyCoverage(
  manifest: Manifest,
  { consents, notices, policies }: Coverage,
  findings: Findings,
): void {
  const claims = (stream: string) => manifest.complete.some((run) => run.stream === stream);
  if (isUnfiltered(manifest.filter)) {
    if (claims(consents.stream)) verifyWhole(consents, findings);
    else if (consents.ledger_reaches !== null)
      findings.warn('the package was requested for the whole site, but does not claim that its consents are complete', {
        file: PACKAGE_FILES.manifest,
      });
  }
  if (claims(notices.stream)) verifyWhole(notices, findings);
  // A policy that is left out could be the stricter one.
  if (policies.ledger_reaches !== null) verifyWhole(policies, findings);
}

function verifyWhole(
  { stream, complete_up_to: upTo, ledger_reaches: reaches, is_whole: isWhole }: StreamCoverage,
  findings: Findings,
): void {
  if (isWhole) return;
  const held = upTo === null ? 'is not complete from revision 0 on' : `is complete only up to revision ${upTo}`;
  findings.fail(
    'completeness.runs',
    `the package claims the whole stream, but it ${held}; the ledger has at least revision ${reaches ?? 0}`,
    { file: PACKAGE_FILES.manifest, stream, revision: upTo === null ? 0 : upTo + 1 },
  );
}
