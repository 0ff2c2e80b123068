import type { Manifest } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';
import { CLOCK_TOLERANCE_MS } from '../time/claimed-times.js';
import type { StampedTimes } from '../time/stamped-times.js';

/**
 * Compares the time at which the package claims to have been made with its time stamps: it cannot be older than they
 * are (docs/evidence-format.md §9).
 */
export function verifyExportTime({ exported_at: exportedAt }: Manifest, times: StampedTimes, findings: Findings): void {
  const time = Date.parse(exportedAt);
  const isContradicted = times.all.some((stamp) => time < stamp.time - stamp.accuracy - CLOCK_TOLERANCE_MS);
  if (isContradicted)
    findings.fail('time.claimed', finding('export-before-stamp'), {
      file: PACKAGE_FILES.manifest,
    });
}
