import type { CheckId } from '../findings/check-table.js';
import type { Texts } from '../i18n/texts.js';
import { coverageText, decisionsText } from './coverage-text.js';
import type { ReportFacts } from './report.js';

/**
 * Lists the statements that the package proves, in words for a reader without technical
 * knowledge. The list is empty if any check failed.
 */
export function provesOf(report: ReportFacts, texts: Texts): readonly string[] {
  const { package: about, records, proved, coverage, witnesses } = report;
  const { evidence } = texts;
  if (report.verdict === 'invalid') return [];
  const passed = new Set(report.checks.filter(({ outcome }) => outcome === 'pass').map(({ id }) => id));
  const pass = (...ids: readonly CheckId[]) => ids.every((id) => passed.has(id));
  const lines: string[] = [];
  if (pass('ledger.key') && about.origin !== null && records.consents > 0)
    lines.push(evidence.ledger(about.origin, records.consents, decisionsText(records, texts)));
  if (pass('time.stamped') && proved.not_after !== null) {
    lines.push(evidence.existed(proved.not_after.time));
    if (proved.not_before !== null) lines.push(evidence.sealedAfter(proved.not_before.time));
    if (pass('entry.inclusion', 'batch.inclusion')) lines.push(evidence.unchanged);
  }
  if (pass('ledger.witnesses', 'ledger.key') && witnesses.checkpoint !== null && witnesses.cosigned.length > 0) {
    const names = witnesses.cosigned.map(({ name }) => name).join(', ');
    lines.push(evidence.witnessed(witnesses.cosigned.length, names, witnesses.checkpoint));
  }
  if (pass('document.version')) lines.push(evidence.texts);
  const scans = report.scans.verdicts.valid;
  if (scans > 0) lines.push(evidence.scans(scans, pass('completeness.runs') && coverage?.notices.is_whole === true));
  if (pass('disclosure.digest')) lines.push(evidence.disclosed(records.disclosed_values));
  if (pass('completeness.runs') && coverage !== null) {
    if (coverage.consents.complete.length > 0)
      lines.push(evidence.consentsReach(coverageText(coverage.consents, texts)));
    if (coverage.notices.complete.length > 0) lines.push(evidence.noticesReach(coverageText(coverage.notices, texts)));
  }
  const ofPerson = about.filter?.person_records ?? null;
  if (coverage?.person === 'complete' && ofPerson !== null && about.person !== null)
    lines.push(evidence.person(ofPerson, about.person));
  if (pass('erasure.proof')) lines.push(evidence.erased(records.erased));
  return lines;
}
