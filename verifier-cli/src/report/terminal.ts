import type { CheckResult, Problem } from '../findings/findings.js';
import type { Texts } from '../i18n/texts.js';
import { placeText } from '../rendering/page-parts.js';
import { printable } from '../rendering/printable.js';
import { asOfText, type ReportedTime } from '../rendering/times-text.js';
import { findingText, loudVerdict, OUTCOME_MARKS, verdictWording } from '../rendering/wording.js';
import {
  authoritiesText,
  coverageText,
  decisionsText,
  discloseText,
  filterText,
  madeForLines,
  policyText,
  verdictsText,
  witnessesText,
  workText,
} from './coverage-text.js';
import { firstStatement, overdueLines, personLines, recordsStatement } from './headlines.js';
import { notProved } from './not-proved.js';
import { operatorLines } from './operator-statements.js';
import { provesOf } from './proves.js';
import { recomputedBy } from './recomputed.js';
import type { VerificationReport } from './report.js';
import { scanFacts } from './scan-text.js';
import { stampLines } from './stamp-lines.js';

const SHOWN_PROBLEMS = 5;
/** Number of columns for the names before times. */
const TIME_NAMES = 42;
/** Number of columns for the names of a scan's values. */
const SCAN_NAMES = 28;

/**
 * Formats the report as readable text: the verdict, what is proved and what is not, then the proved times next to the
 * claims, and the checks. The times of an invalid package come last.
 * @param isVerbose whether the report includes whole keys, the work, and the checks that do not apply
 */
export function terminalReport(report: VerificationReport, texts: Texts, isVerbose = false): string {
  const { terminal } = texts.report;
  const wording = verdictWording(report.verdict, report.package.development === true, texts);
  const times = ['', ...timeLines(report, texts)];
  const isInvalid = report.verdict === 'invalid';
  const proves = provesOf(report, texts);
  const first = firstStatement(report, texts) ?? wording.sentence;
  const statements = [...personLines(report, texts), recordsStatement(report, texts), ...overdueLines(report, texts)];
  return [
    `${loudVerdict(wording, texts)}, ${asOfText(report.as_of, texts)}: ${printable(first)}`,
    ...statements.filter((line) => line !== null).map(printable),
    '',
    terminal.proves,
    ...(proves.length === 0 ? [terminal.provesNothing] : proves).map((line) => `  • ${printable(line)}`),
    '',
    terminal.notProved,
    ...notProved(report, texts).map((line) => `  • ${printable(line)}`),
    ...(isInvalid ? [] : times),
    '',
    ...stampLines(report, texts),
    '',
    ...packageLines(report, texts, isVerbose),
    '',
    ...witnessLines(report, texts),
    ...promiseLines(report, texts),
    ...scanLines(report, texts),
    terminal.checks,
    ...checksLines(report, texts, isVerbose),
    ...warningLines(report, texts),
    ...(isInvalid ? times : []),
    '',
  ].join('\n');
}

function timeLines(found: VerificationReport, texts: Texts): string[] {
  const { verdict, proved, records, trust, package: about, sound_until: soundUntil } = found;
  const { report } = texts;
  const { terminal } = report;
  const line = (name: string, value: string): string => `  ${name.padEnd(TIME_NAMES)}${value}`;
  const lines = [about.development === true ? terminal.trialTimes : terminal.times];
  if (verdict === 'invalid') lines.push(`  ${terminal.timesInvalid}`);
  if (proved.not_after === null) {
    const { required_stamps: required, batches_without_stamp: missing, batches } = proved;
    const unstamped = trust.roots.length === 0 ? terminal.rootNotGiven : terminal.unstamped(required, missing, batches);
    lines.push(`  ${batches === 0 ? terminal.noBatch : unstamped}`);
  } else {
    lines.push(line(terminal.existedBy, timeText(proved.not_after)));
  }
  if (proved.earliest !== null) lines.push(line(terminal.earliest, `${timeText(proved.earliest)}${report.anyEntry}`));
  if (proved.not_before !== null) lines.push(line(terminal.sealedAfter, timeText(proved.not_before)));
  if (soundUntil !== null)
    lines.push(
      line(
        terminal.validUntil,
        `${printable(soundUntil.date)} (${printable(findingText({ ...soundUntil, message: soundUntil.reason }, texts))})`,
      ),
    );
  if (records.claimed !== null) {
    lines.push(terminal.claimed);
    lines.push(`  ${terminal.given(printable(records.claimed.first), printable(records.claimed.last))}`);
  }
  return lines;
}

function witnessLines({ witnesses: found }: VerificationReport, { report }: Texts): string[] {
  const { checkpoint, required, cosigned, missing, others } = found;
  const { terminal } = report;
  if (cosigned.length + missing.length + others === 0) return [];
  return [
    terminal.witnesses(checkpoint, required),
    ...cosigned.map(({ name, time }) => `  ✓ ${terminal.cosigned(printable(name), time)}`),
    ...missing.map((name) => `  – ${terminal.notCosigned(printable(name))}`),
    ...(others === 0 ? [] : [`  – ${report.otherCosignatures(others)}`]),
    '',
  ];
}

function promiseLines({ promises }: VerificationReport, texts: Texts): string[] {
  if (promises.length === 0) return [];
  const { report } = texts;
  return [
    report.promises,
    ...promises.map(
      (promise) =>
        `  ${promise.outcome.padEnd(13)} ${printable(promise.file)}: ${printable(findingText(promise, texts))}`,
    ),
    '',
  ];
}

function scanLines({ scans: { count, newest } }: VerificationReport, texts: Texts): string[] {
  if (count === 0) return [];
  const { report, words } = texts;
  return [
    report.scans.title,
    ...newest
      .toReversed()
      .flatMap((scan) => [
        `  ${printable(scan.url)}: ${words.recordVerdicts[scan.verdict]} (${printable(scan.event_id)})`,
        ...scanFacts(scan, texts).map(([name, value]) => `    ${`${name}:`.padEnd(SCAN_NAMES)} ${value}`),
      ]),
    ...(count > newest.length ? [`  ${report.scans.more(count - newest.length)}`] : []),
    '',
  ];
}

function timeText({ time, accuracy_ms: accuracy }: ReportedTime): string {
  return accuracy === 0 ? time : `${time} (± ${accuracy} ms)`;
}

function packageLines(found: VerificationReport, texts: Texts, isVerbose: boolean): string[] {
  const { package: about, policy, newest, records, work, verifier, trust } = found;
  const { report, words } = texts;
  const { terminal } = report;
  const { labels } = terminal;
  const width = Math.max(...Object.values(labels).map((label) => label.length));
  const line = (label: string, value: string): string => `  ${label.padEnd(width)} ${value}`;
  const given = (values: readonly string[]): readonly string[] => (values.length === 0 ? [terminal.nothing] : values);
  return [
    terminal.package,
    line(labels.ledger, printable(about.origin ?? words.unknown)),
    line(labels.site, printable(about.site_id ?? words.unknown)),
    ...(about.site === null
      ? []
      : [
          line(labels.domain, printable(about.site.domain)),
          line(labels.controller, `${printable(about.site.controller)}, ${printable(about.site.contact)}`),
        ]),
    ...[...operatorLines(found.operator, texts), ...madeForLines(about.export, texts)].map(
      ([name, value]) => `  ${name}: ${printable(value)}`,
    ),
    ...(about.filter === null
      ? []
      : [
          line(labels.requested, printable(filterText(about.filter, texts))),
          line(labels.values, printable(discloseText(about.filter, texts))),
        ]),
    ...coverageLines(found, texts),
    line(
      labels.exported,
      terminal.by(printable(about.exported_at ?? words.unknown), printable(about.exported_by ?? words.unknown)),
    ),
    ...(about.development === true ? [line(labels.warning, terminal.development)] : []),
    line(labels.policy, policyText(policy, texts)),
    line(labels.authorities, authoritiesText(newest, texts)),
    line(labels.witnesses, witnessesText(newest, texts)),
    line(labels.records, `${records.consents}: ${verdictsText(found, texts)}`),
    line(labels.decisions, decisionsText(records, texts)),
    line(labels.personal, terminal.personal(records.disclosed_values, records.withheld_values, records.erased)),
    ...(isVerbose ? [line(labels.work, workText(work, texts))] : []),
    ...given(trust.ledger_keys).map((key) => line(labels.key, printable(isVerbose ? key : nameAndId(key)))),
    ...given(trust.roots.map(({ subject, sha256 }) => `${subject}, ${report.sha256(sha256)}`)).map((root) =>
      line(labels.root, printable(root)),
    ),
    line(labels.checkedBy, `${printable(`${verifier.name} ${verifier.version}`)}. ${report.genuine}`),
  ];
}

/**
 * Returns a verifier key without the key itself, which takes 1.8 kB with ML-DSA-44. The key's id is a part of its hash.
 */
function nameAndId(verifierKey: string): string {
  return verifierKey.split('+', 2).join('+');
}

function checksLines({ checks }: VerificationReport, texts: Texts, isVerbose: boolean): string[] {
  const shown = isVerbose ? checks : checks.filter(({ outcome }) => outcome !== 'not-applicable');
  const left = checks.length - shown.length;
  return [
    ...shown.flatMap((check) => checkLines(check, texts)),
    ...(left === 0 ? [] : [`  ${texts.report.terminal.checksLeftOut(left)}`]),
  ];
}

function coverageLines(found: VerificationReport, texts: Texts): string[] {
  const { coverage } = found;
  if (coverage === null) return [];
  const { terminal } = texts.report;
  const isRecomputed = recomputedBy(found).length > 0;
  return [
    `  ${terminal.consents(coverageText(coverage.consents, isRecomputed, texts))}`,
    `  ${terminal.notices(coverageText(coverage.notices, isRecomputed, texts))}`,
  ];
}

function checkLines(check: CheckResult, texts: Texts): string[] {
  const { counts, problems } = check;
  const { words } = texts;
  const { terminal } = texts.report;
  const total = counts.pass + counts.fail + counts.indeterminate;
  const amount = total > 1 ? ` ${terminal.amount(counts.pass, total)}` : '';
  const isQuiet = check.outcome === 'indeterminate' && !check.required;
  const { mark } = OUTCOME_MARKS[check.outcome];
  const lines = [`  ${mark} ${check.id.padEnd(24)} ${texts.checks(check.id)}${amount}`];
  if (check.outcome === 'not-applicable') return [`${lines[0]} ${terminal.notApplicable}`];
  if (check.because.length > 0) return [...lines, `      ${words.because(check.because)}`];
  const affected = check.affects.length === 0 ? [] : [`      ${words.affects(check.affects)}`];
  if (isQuiet && counts.indeterminate > 1)
    return [...lines, `      ${printable(findingText(check, texts))}`, ...affected];
  const own = problems.filter(({ because }) => because === undefined);
  lines.push(...own.slice(0, SHOWN_PROBLEMS).map((problem) => problemLine(problem, texts)));
  const more = counts.fail + counts.indeterminate - Math.min(SHOWN_PROBLEMS, own.length);
  if (more > 0) lines.push(`      ${terminal.more(more)}`);
  return [...lines, ...affected];
}

function problemLine(problem: Problem, texts: Texts): string {
  return `      ${OUTCOME_MARKS[problem.outcome].mark} ${placeText(problem, texts)}${printable(findingText(problem, texts))}`;
}

function warningLines({ warnings }: VerificationReport, texts: Texts): string[] {
  if (warnings.count === 0) return [];
  const { terminal } = texts.report;
  const shown = warnings.first.slice(0, SHOWN_PROBLEMS);
  const more = warnings.count - shown.length;
  return [
    '',
    terminal.warnings,
    ...shown.map((warning) => `  ! ${placeText(warning, texts)}${printable(findingText(warning, texts))}`),
    ...(more > 0 ? [`  ${terminal.more(more)}`] : []),
  ];
}
