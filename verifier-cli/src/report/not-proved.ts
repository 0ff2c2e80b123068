import type { Texts } from '../i18n/texts.js';
import { coverageSentence } from './coverage-text.js';
import { isLedgerUnknown } from './missing-trust.js';
import { recomputedBy } from './recomputed.js';
import type { ReportFacts } from './report.js';

/** Lists the limits of the evidence, in words for a reader without technical knowledge. */
export function notProved(report: ReportFacts, texts: Texts): readonly string[] {
  const { package: about, records, witnesses } = report;
  const { evidence } = texts;
  const lines = [
    evidence.notWho,
    evidence.notWhen,
    evidence.notAll,
    witnesses.cosigned.length === 0 ? evidence.notWitnessed : evidence.notIndependent,
    ...(recomputedBy(report).length === 0 ? [evidence.notRecomputed] : []),
    evidence.notShownToOthers,
    missing(report, texts),
  ];
  if (records.imported > 0) lines.push(evidence.notImported(records.imported));
  if (report.scans.count > 0) lines.push(evidence.notScanned);
  if (about.not_yet_stamped !== null && about.not_yet_stamped > 0)
    lines.push(evidence.notStamped(about.not_yet_stamped));
  if (records.withheld_values > 0) lines.push(evidence.notWithheld(records.withheld_values));
  if (records.erased > 0) lines.push(evidence.notErased(records.erased));
  if (about.development === true) lines.push(evidence.notInDispute);
  return lines;
}

/**
 * Says which records may be missing. There is no gap only if a run of consents begins with the first one and reaches as
 * far as the package shows the ledger to reach.
 */
function missing(report: ReportFacts, texts: Texts): string {
  const { coverage } = report;
  const { evidence } = texts;
  if (coverage?.person === 'complete') return evidence.notLaterOfPerson;
  const consents = coverage?.consents;
  if (consents?.is_whole === true && consents.complete_up_to !== null)
    return evidence.notLater(consents.complete_up_to + 1);
  return evidence.notComplete(
    consents === undefined || isLedgerUnknown(report)
      ? null
      : coverageSentence(consents, 'consents', recomputedBy(report).length > 0, texts),
  );
}
