import type { Manifest } from '../../../schemas/evidence/manifest.js';
import { counted } from '../../../schemas/text/counted.js';
import type { Coverage } from '../completeness/coverage.js';
import type { PersonCoverage } from '../completeness/persons.js';
import type { RecordsSummary } from '../entries/summary.js';
import type { CheckId } from '../findings/check-table.js';
import type { Findings } from '../findings/findings.js';
import type { WitnessedCheckpoint } from '../ledger/witnesses.js';
import { coverageText, decisionsText } from './coverage-text.js';
import type { VerificationReport } from './report.js';

interface Found {
  readonly findings: Findings;
  readonly manifest: Manifest | null;
  readonly summary: RecordsSummary;
  readonly proved: VerificationReport['proved'];
  readonly coverage: Coverage | null;
  readonly person: PersonCoverage;
  readonly witnessed: WitnessedCheckpoint;
}

/**
 * What the package proves, in words for a reader without technical knowledge. Nothing as a whole,
 * if any check failed.
 */
export function provesOf({
  findings,
  manifest,
  summary,
  proved,
  coverage,
  person,
  witnessed,
}: Found): readonly string[] {
  if (findings.verdict() === 'invalid') return [];
  const pass = (...ids: readonly CheckId[]) => ids.every((id) => findings.outcomeOf(id) === 'pass');
  const lines: string[] = [];
  if (pass('ledger.key') && manifest !== null && summary.consents > 0)
    lines.push(
      `The ledger “${manifest.origin}”, whose key you gave, contains ${summary.consents === 1 ? 'this record' : `these ${summary.consents} records`} (${decisionsText(summary)}).`,
    );
  if (pass('time.stamped') && proved.not_after !== null) {
    lines.push(
      `All of them existed by ${proved.not_after.time} (UTC). Time stamp authorities that you trust state this, not the service.`,
    );
    if (proved.not_before !== null) lines.push(`All of them were sealed after ${proved.not_before.time} (UTC).`);
    if (pass('entry.inclusion', 'batch.inclusion'))
      lines.push('None of them was changed since: every record still matches the digest that was stamped.');
  }
  if (pass('ledger.witnesses', 'ledger.key') && witnessed.size !== null && witnessed.cosigned.length > 0) {
    const names = witnessed.cosigned.map(({ name }) => name).join(', ');
    lines.push(
      `${counted(witnessed.cosigned.length, 'witness', 'witnesses')} that you trust (${names}) saw this ledger of ${counted(witnessed.size, 'batch', 'batches')}, and no other history of it.`,
    );
  }
  if (pass('document.version'))
    lines.push(
      'The texts consented to are included exactly as they were published, and the ledger contains their publication.',
    );
  if (pass('disclosure.digest'))
    lines.push(
      `The disclosed personal details (${counted(summary.disclosed_values, 'value')}) are the ones that were recorded.`,
    );
  if (pass('completeness.runs') && coverage !== null) {
    if (coverage.consents.complete.length > 0)
      lines.push(`The site's consents and erasures are ${coverageText(coverage.consents)}.`);
    if (coverage.notices.complete.length > 0)
      lines.push(`The site's documents and configurations are ${coverageText(coverage.notices)}.`);
  }
  const records = manifest?.filter.person?.records ?? null;
  if (person === 'complete' && records !== null)
    lines.push(
      `The ledger has ${counted(records, 'record')} of the person, and the package contains all of them: no withdrawal is left out.`,
    );
  if (pass('erasure.proof'))
    lines.push(
      `The personal details of ${counted(summary.erased, 'record')} were erased, and the ledger contains the erasure.`,
    );
  return lines;
}
