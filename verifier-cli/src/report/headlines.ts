import type { Texts } from '../i18n/texts.js';
import { byDayText } from '../rendering/times-text.js';
import { isLedgerUnknown, missingTrust } from './missing-trust.js';
import type { ReportFacts } from './report.js';

/** Checks that a package fails if its files were unpacked and packed again. */
const CONTAINER: ReadonlySet<string> = new Set(['container.structure', 'container.names']);

/**
 * Returns whether every file has the digest of the signed manifest and only the container is different. The package is
 * invalid anyway, because programs could extract other content from it.
 */
export function isRepacked({ checks }: ReportFacts): boolean {
  const failed = checks.filter(({ outcome }) => outcome === 'fail').map(({ id }) => id);
  const passes = (id: string): boolean => checks.some((check) => check.id === id && check.outcome === 'pass');
  return (
    failed.length > 0 &&
    failed.every((id) => CONTAINER.has(id)) &&
    passes('manifest.files') &&
    passes('manifest.signature')
  );
}

/** Says what a reader must do or know before the verdict is useful, or null if there is nothing. */
export function firstStatement(report: ReportFacts, texts: Texts): string | null {
  if (isRepacked(report)) return texts.report.repacked;
  const isOverdue = report.promises.some(({ outcome }) => outcome === 'overdue');
  return missingTrust(report, texts) ?? (isOverdue && report.verdict !== 'invalid' ? texts.report.overdue : null);
}

/** The verdict as a statement about the records, or null if there is none. */
export function recordsStatement(report: ReportFacts, texts: Texts): string | null {
  const { verdict, proved, records } = report;
  const { report: words } = texts;
  if (verdict === 'invalid') return words.invalid;
  if (records.consents === 0) return words.noRecord;
  if (verdict === 'valid') return proved.not_after && words.valid(records.consents, byDayText(proved.not_after, texts));
  if (isLedgerUnknown(report)) return words.unknownLedger(records.consents);
  return words.indeterminate(records.consents, records.verdicts.valid === 0);
}

/** Names the person of the records, and the person that the reader asked about. Values come from the package. */
export function personLines({ package: about }: ReportFacts, { report }: Texts): readonly string[] {
  const { person, asked_person: asked } = about;
  if (person !== null && person === asked) return [report.personAsked(person)];
  const named =
    person !== null ? report.personNamed(person) : (about.filter?.persons ?? 0) > 0 ? report.personNotNamed : null;
  return [named, asked === null ? null : report.askedAbout(asked)].filter((line) => line !== null);
}

/** Lists the promises whose time has passed. */
export function overdueLines({ promises }: ReportFacts, { report }: Texts): readonly string[] {
  return promises.flatMap(({ outcome, event_id: event, due }) =>
    outcome === 'overdue' && event !== null && due !== null ? [report.promiseOverdue(event, due)] : [],
  );
}
