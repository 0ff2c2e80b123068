import type { Texts } from '../i18n/texts.js';
import { missingTrust } from './missing-trust.js';
import type { ReportFacts } from './report.js';

/** Checks that a package fails if its files were unpacked and packed again. */
const CONTAINER: ReadonlySet<string> = new Set(['container.structure', 'container.names']);

/**
 * Whether every file has the digest of the signed manifest, and only the container is another one. The
 * file is invalid all the same: programs could extract other content from it.
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

/** States what a reader must do or know before the verdict is of use; null: nothing. */
export function firstStatement(report: ReportFacts, texts: Texts): string | null {
  if (isRepacked(report)) return texts.report.repacked;
  const isOverdue = report.promises.some(({ outcome }) => outcome === 'overdue');
  return missingTrust(report, texts) ?? (isOverdue && report.verdict !== 'invalid' ? texts.report.overdue : null);
}

/**
 * Lists what a reader must know beside the verdict: whose records these are, and promises whose time has
 * passed. Values come from the package.
 */
export function headlines({ package: about, promises }: ReportFacts, { report }: Texts): readonly string[] {
  const lines: string[] = [];
  if (about.person !== null) lines.push(report.personNamed(about.person));
  else if ((about.filter?.persons ?? 0) > 0) lines.push(report.personNotNamed);
  for (const { outcome, event_id: event, due } of promises)
    if (outcome === 'overdue' && event !== null && due !== null) lines.push(report.promiseOverdue(event, due));
  return lines;
}
