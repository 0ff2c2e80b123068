import type { Manifest } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { Archive } from '../container/archive.js';
import type { RecordsSummary } from '../entries/summary.js';
import type { CheckId } from '../findings/checks.js';
import { finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';

/**
 * Compares the counts of the manifest with the content, and reports what the package withholds (docs/evidence-format.md
 * §10).
 */
export function verifyCounts(
  manifest: Manifest | null,
  summary: RecordsSummary,
  archive: Archive,
  findings: Findings,
): void {
  if (summary.consents > 0) findings.pass('package.records');
  else findings.open('package.records', finding('no-consent-record'), {}, causeOfCounts(findings));

  const withheld = summary.withheld_values;
  if (withheld > 0) findings.skip('disclosure.withheld', finding('values-withheld', { count: withheld }));
  else findings.skip('disclosure.withheld', finding('nothing-withheld'));

  if (summary.key_lost > 0) findings.warn(finding('keys-lost', { records: summary.key_lost }));

  if (manifest === null) {
    const message = finding('counts-not-stated');
    findings.open('manifest.counts', message, {}, 'manifest.format');
    return;
  }
  const attachments = [...archive.keys()].filter((name) => name.startsWith(PACKAGE_FILES.attachment(''))).length;
  const found = {
    entries: summary.entries,
    consents: summary.consents,
    erased: summary.erased,
    key_lost: summary.key_lost,
    attachments,
  };
  for (const name of ['entries', 'consents', 'erased', 'key_lost', 'attachments'] as const) {
    const claimed = manifest.counts[name];
    // Events of an unknown version may be consents, and may be erased or without a key.
    const isUnknown = name === 'consents' || name === 'erased' || name === 'key_lost';
    const mayBe = isUnknown && claimed > found[name] && claimed <= found[name] + summary.unknown;
    if (claimed === found[name]) findings.pass('manifest.counts');
    else if (mayBe)
      findings.open('manifest.counts', finding('unknown-events-may-count', { count: summary.unknown, name }), {
        file: PACKAGE_FILES.manifest,
      });
    else
      findings.fail(
        'manifest.counts',
        finding('count-differs', { stated: claimed, name, found: found[name] }),
        { file: PACKAGE_FILES.manifest },
        causeOfCounts(findings),
      );
  }
}

/** Returns the check that explains wrong counts: missing events and unreadable lines change them. */
function causeOfCounts(findings: Findings): CheckId | null {
  const ids = ['entry.format', 'completeness.runs'] as const;
  return ids.find((id) => findings.outcomeOf(id) === 'fail') ?? null;
}
