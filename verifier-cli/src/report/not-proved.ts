import type { Manifest } from '../../../schemas/evidence/manifest.js';
import { counted } from '../../../schemas/text/counted.js';
import type { Coverage } from '../completeness/coverage.js';
import type { PersonCoverage } from '../completeness/persons.js';
import type { RecordsSummary } from '../entries/summary.js';
import type { WitnessedCheckpoint } from '../ledger/witnesses.js';
import { coverageText } from './coverage-text.js';

/** What else decides about it. */
interface Circumstances {
  readonly person: PersonCoverage;
  readonly witnessed: WitnessedCheckpoint;
  readonly isDevelopment: boolean;
}

/** What the evidence does not prove, in words for a reader without technical knowledge. */
export function notProved(
  manifest: Manifest | null,
  summary: RecordsSummary,
  coverage: Coverage | null,
  { person, witnessed, isDevelopment }: Circumstances,
): readonly string[] {
  const lines = [
    'Who the person was. The records state what the service was told, or what the backend of the tenant vouched for.',
    'When a person acted. The time stamps prove by when a record existed. The time in a record (created_at) is a claim of the service.',
    'That every consent was recorded. Completeness can be proved only for events in the event log.',
    witnessed.cosigned.length === 0
      ? 'That every recipient sees the same history. That requires cosignatures of independent witnesses that you trust, and the newest checkpoint has none.'
      : 'That the witnesses are independent of the operator of the ledger, and of each other.',
    'That no other recipient was shown a different entry for the same stream and revision. Compare packages with consent-verify compare to detect that.',
  ];
  lines.push(missing(coverage, person));
  if (manifest !== null && manifest.counts.not_yet_stamped > 0) {
    lines.push(
      `Anything about ${counted(manifest.counts.not_yet_stamped, 'further consent')} without a time stamp when the package was made.`,
    );
  }
  if (summary.withheld_values > 0) {
    lines.push(
      `The content of ${counted(summary.withheld_values, 'value')} that the package withholds. It proves only that a value was recorded and not changed.`,
    );
  }
  if (summary.erased > 0) {
    lines.push(
      `The personal details of ${counted(summary.erased, 'erased record')}. Erasures that were announced later than the state of the package are not known to it.`,
    );
  }
  if (isDevelopment || manifest?.development === true) {
    lines.push(
      'Anything in a dispute. A development time stamp authority stamped this ledger, and anyone can run one.',
    );
  }
  return lines;
}

/**
 * What may be missing: only a run of consents from the first on, as far as the package itself shows
 * the ledger to reach, leaves no gap.
 */
function missing(coverage: Coverage | null, person: PersonCoverage): string {
  if (person === 'complete')
    return 'What the person did after that time, or under another identifier. Compare the receipts that the person keeps.';
  const consents = coverage?.consents;
  if (consents?.is_whole === true && consents.complete_up_to !== null)
    return `What was recorded after revision ${consents.complete_up_to} of the consents. The package contains no later event.`;
  const reason = consents === undefined ? '' : ` Its consents and erasures are ${coverageText(consents)}.`;
  return `That these are all records of the site or of a person. A later withdrawal may be missing.${reason}`;
}
