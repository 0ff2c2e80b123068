import type { Manifest } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';
import { CLOCK_TOLERANCE_MS } from './claimed-times.js';
import type { ProvedTime } from './stamped-times.js';

/** 24 hours. */
export const DEFAULT_MAX_AGE_MS = 86_400_000;

/** The time of verification, and the maximum age of the package's state. */
export interface FreshnessLimits {
  readonly at: Date;
  /**
   * The longest time from the newest time stamp to `exported_at`, and to `at`, in milliseconds. If omitted, the limit
   * is 24 h to `exported_at`, and there is none to `at`, because an archived package stays valid.
   */
  readonly maxAge?: number;
}

/**
 * Verifies that the package shows the ledger as it was when the package was made (docs/evidence-format.md §9). A
 * package with an old checkpoint can leave out everything since then.
 * @param asOf the valid stamp over the package's checkpoint
 */
export function verifyFreshness(
  manifest: Manifest | null,
  asOf: ProvedTime | null,
  { at, maxAge }: FreshnessLimits,
  findings: Findings,
): void {
  const place = { file: PACKAGE_FILES.manifest };
  if (manifest === null) {
    findings.skip('time.fresh', finding('export-time-not-stated'));
    return;
  }
  const exportedAt = Date.parse(manifest.exported_at);
  if (exportedAt > at.getTime() + CLOCK_TOLERANCE_MS) {
    findings.fail('time.fresh', finding('exported-in-future'), place);
    return;
  }
  if (asOf === null) {
    findings.skip('time.fresh', finding('package-checkpoint-not-stamped'));
    return;
  }
  const limit = maxAge ?? DEFAULT_MAX_AGE_MS;
  const exportAge = exportedAt - asOf.time;
  const age = at.getTime() - asOf.time;
  if (exportAge > limit) findings.open('time.fresh', finding('export-not-fresh', { age: exportAge }), place);
  else if (maxAge !== undefined && age > limit) findings.open('time.fresh', finding('stamp-not-fresh', { age }));
  else findings.pass('time.fresh');
}
