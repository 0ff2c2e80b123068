import type { CheckId } from '../findings/checks.js';
import type { Texts } from '../i18n/texts.js';
import { coverageSentence, decisionsText } from './coverage-text.js';
import { isLedgerUnknown } from './missing-trust.js';
import { recomputedBy } from './recomputed.js';
import type { ReportFacts } from './report.js';

/**
 * Lists the statements that the package proves, in words for a reader without technical
 * knowledge. The list is empty if any check failed.
 */
export function provesOf(report: ReportFacts, texts: Texts): readonly string[] {
  const { package: about, records, coverage } = report;
  const { evidence } = texts;
  if (report.verdict === 'invalid') return [];
  const passed = new Set(report.checks.filter(({ outcome }) => outcome === 'pass').map(({ id }) => id));
  const pass = (...ids: readonly CheckId[]) => ids.every((id) => passed.has(id));
  const isRecomputed = recomputedBy(report).length > 0;
  const lines: string[] = [];
  // Every other statement presupposes whose ledger this is.
  if (!pass('ledger.key')) return isLedgerUnknown(report) ? [evidence.unknownLedger] : [];
  if (about.origin !== null && records.consents > 0)
    lines.push(evidence.ledger(about.origin, records.consents, decisionsText(records, texts)));
  if (pass('time.stamped')) lines.push(...stamped(report, pass('entry.inclusion', 'batch.inclusion'), texts));
  if (pass('ledger.witnesses')) lines.push(...witnessed(report, texts));
  if (pass('document.version')) lines.push(evidence.texts);
  const scans = report.scans.verdicts.valid;
  if (scans > 0) lines.push(evidence.scans(scans, pass('completeness.runs') && coverage?.notices.is_whole === true));
  if (pass('disclosure.digest')) lines.push(evidence.disclosed(records.disclosed_values));
  if (pass('completeness.runs') && coverage !== null) {
    if (coverage.consents.complete.length > 0)
      lines.push(coverageSentence(coverage.consents, 'consents', isRecomputed, texts));
    if (coverage.notices.complete.length > 0)
      lines.push(coverageSentence(coverage.notices, 'notices', isRecomputed, texts));
  }
  const ofPerson = about.filter?.person_records ?? null;
  if (coverage?.person === 'complete' && ofPerson !== null && about.person !== null)
    lines.push(evidence.person(ofPerson, about.person, isRecomputed));
  if (pass('erasure.proof')) lines.push(evidence.erased(records.erased));
  return lines;
}

/** Lists what the time stamps prove of the records. @param isIncluded whether every record is in what was stamped */
function stamped(
  { proved, package: about, records: { consents } }: ReportFacts,
  isIncluded: boolean,
  { evidence }: Texts,
): readonly string[] {
  if (proved.not_after === null) return [];
  return [
    evidence.existed(proved.not_after.time, consents, about.development === true),
    ...(proved.not_before === null ? [] : [evidence.sealedAfter(proved.not_before.time, consents)]),
    ...(isIncluded ? [evidence.unchanged(consents)] : []),
  ];
}

/** Lists the statements of the given witnesses by their cosignatures. */
function witnessed(report: ReportFacts, { evidence }: Texts): readonly string[] {
  const { checkpoint, cosigned } = report.witnesses;
  if (checkpoint === null || cosigned.length === 0) return [];
  const auditors = recomputedBy(report);
  return [
    evidence.witnessed(cosigned.length, cosigned.map(({ name }) => name).join(', '), checkpoint),
    ...(auditors.length === 0 ? [] : [evidence.recomputed(auditors.join(', '), checkpoint)]),
  ];
}
