import type { Manifest } from '../../../schemas/evidence/manifest.js';
import { counted } from '../../../schemas/text/counted.js';
import type { Coverage } from '../completeness/coverage.js';
import type { RecordsSummary } from '../entries/summary.js';
import { coverageText } from './coverage-text.js';

/** What the evidence does not prove, in words for a reader without technical knowledge. */
export function notProved(
  manifest: Manifest | null,
  summary: RecordsSummary,
  coverage: Coverage | null,
): readonly string[] {
  const lines = [
    'Who the person was: the records say what the service was told, or what its caller vouched for.',
    'When a person acted: the stamps prove by when a record existed. The time in a record (created_at) is the claim of the service.',
    'That everything that happened was recorded: only what entered the log can be shown to be complete.',
    'That the same history was shown to everyone: that needs independent witnesses, and there are none.',
    'That nobody was shown another entry at the same place of a stream, even of the same batch under the same stamp: only comparing packages (consent-verify compare) can tell.',
  ];
  lines.push(missing(coverage));
  if (manifest !== null && manifest.counts.not_yet_stamped > 0) {
    lines.push(
      `Anything about ${counted(manifest.counts.not_yet_stamped, 'further consent')}, not stamped yet when the package was made.`,
    );
  }
  if (summary.withheld_values > 0) {
    lines.push(
      `The content of ${counted(summary.withheld_values, 'value')} that the package withholds: only that something was recorded then, and not changed since.`,
    );
  }
  if (summary.erased > 0) {
    lines.push(
      `The personal details of ${counted(summary.erased, 'erased record')}. An erasure shows which records were erased together, never whose they are.`,
    );
  }
  if (manifest?.development === true) {
    lines.push(
      'Anything at all in a dispute: a development time-stamp authority stamped this ledger, and anyone could run one.',
    );
  }
  return lines;
}

/** What may be missing: only a run of consents from the first on, as far as the package itself shows the ledger to reach, leaves no gap. */
function missing(coverage: Coverage | null): string {
  const consents = coverage?.consents;
  if (consents?.is_whole === true && consents.complete_up_to !== null)
    return `What was recorded after revision ${consents.complete_up_to} of the consents: nothing that came later is in the package.`;
  const reason = consents === undefined ? '' : ` Its consents and erasures are ${coverageText(consents)}.`;
  return `That these are all the records of the site, or of a person: a later withdrawal may be missing.${reason}`;
}
