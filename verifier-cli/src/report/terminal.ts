import { counted } from '../../../schemas/text/counted.js';
import type { CheckResult, Problem } from '../findings/findings.js';
import { affectsText, becauseText } from './causes-text.js';
import {
  authoritiesText,
  coverageText,
  decisionsText,
  discloseText,
  filterText,
  policyText,
  verdictsText,
  witnessesText,
  workText,
} from './coverage-text.js';
import { asOfText } from './page-parts.js';
import { printable } from './printable.js';
import type { ReportedFilter, ReportedTime, VerificationReport } from './report.js';
import { missingStamps, stampLines } from './stamp-lines.js';
import { verdictWording } from './wording.js';

const MARKS = { pass: '✓', fail: '✗', indeterminate: '?', 'not-applicable': '–' } as const;
const SHOWN_PROBLEMS = 5;

/**
 * The report for people: the verdict, what is proved and what is not, then the proved times, the
 * claims beside them, and the checks. The times of an invalid package come last.
 */
export function terminalReport(report: VerificationReport): string {
  const { word, sentence } = verdictWording(report.verdict, report.package.development === true);
  const times = ['', ...timeLines(report)];
  const isInvalid = report.verdict === 'invalid';
  return [
    `${word.toUpperCase()}, ${asOfText(report.as_of)}: ${sentence}`,
    '',
    'What this proves',
    ...(report.proves.length === 0 ? ['nothing as a whole: see the checks below'] : report.proves).map(
      (line) => `  • ${printable(line)}`,
    ),
    '',
    'What this does not prove',
    ...report.not_proved.map((line) => `  • ${printable(line)}`),
    ...(isInvalid ? [] : times),
    '',
    ...stampLines(report),
    '',
    ...packageLines(report),
    '',
    ...witnessLines(report),
    ...promiseLines(report),
    'Checks',
    ...report.checks.flatMap(checkLines),
    ...warningLines(report),
    ...(isInvalid ? times : []),
    '',
  ].join('\n');
}

function timeLines({ verdict, proved, records, sound_until: soundUntil }: VerificationReport): string[] {
  const lines = ['Proved times (by time stamp authorities that you trust)'];
  if (verdict === 'invalid') lines.push('  of the stamped data, which may differ from the content of this package');
  if (proved.not_after === null) {
    lines.push(
      proved.batches === 0
        ? '  not proved: the package contains no sealed batch'
        : `  not proved: ${missingStamps(proved.required_stamps)} for ${proved.batches_without_stamp} of ${counted(proved.batches, 'batch', 'batches')}`,
    );
  } else {
    lines.push(`  all records existed by                  ${timeText(proved.not_after)}`);
  }
  if (proved.earliest !== null) lines.push(`  the earliest records existed by         ${timeText(proved.earliest)}`);
  if (proved.not_before !== null)
    lines.push(`  all records were sealed after           ${timeText(proved.not_before)}`);
  if (soundUntil !== null) {
    lines.push(
      `  valid without renewal until             ${printable(soundUntil.date)} (${printable(soundUntil.reason)})`,
    );
  }
  if (records.claimed !== null) {
    lines.push('Claimed times (by the service)');
    lines.push(
      `  the consents were given from ${printable(records.claimed.first)} to ${printable(records.claimed.last)}`,
    );
  }
  return lines;
}

function witnessLines({
  witnesses: { checkpoint, required, cosigned, missing, others },
}: VerificationReport): string[] {
  if (cosigned.length + missing.length + others === 0) return [];
  const size = checkpoint === null ? '' : ` of checkpoint ${checkpoint}`;
  return [
    `Witnesses${size}${required === null ? '' : ` (${required} required)`}`,
    ...cosigned.map(({ name, time }) => `  ✓ ${printable(name)} cosigned it. It states the time ${time}.`),
    ...missing.map((name) => `  – ${printable(name)} did not cosign it.`),
    ...(others === 0 ? [] : [`  – ${counted(others, 'cosignature')} by keys that you did not give`]),
    '',
  ];
}

function promiseLines({ promises }: VerificationReport): string[] {
  if (promises.length === 0) return [];
  return [
    'Promises of the service',
    ...promises.map(
      ({ file, outcome, message }) => `  ${outcome.padEnd(13)} ${printable(file)}: ${printable(message)}`,
    ),
    '',
  ];
}

function timeText({ time, accuracy_ms: accuracy }: ReportedTime): string {
  return accuracy === 0 ? time : `${time} (± ${accuracy} ms)`;
}

function packageLines({
  package: about,
  policy,
  newest,
  records,
  coverage,
  work,
  verifier,
}: VerificationReport): string[] {
  return [
    'Package',
    `  ledger        ${printable(about.origin ?? 'unknown')}`,
    `  site          ${printable(about.site_id ?? 'unknown')}`,
    ...(about.site === null
      ? []
      : [
          `  domain        ${printable(about.site.domain)}`,
          `  controller    ${printable(about.site.controller)}, ${printable(about.site.contact)}`,
        ]),
    ...scopeLines(about.filter, coverage),
    `  exported      ${printable(about.exported_at ?? 'unknown')} by ${printable(about.exported_by ?? 'unknown')}`,
    ...(about.development === true
      ? ['  WARNING       stamped by a development authority: for trials only, not evidence']
      : []),
    `  policy        ${policyText(policy)}`,
    `  authorities   ${authoritiesText(newest)}`,
    `  witnesses     ${witnessesText(newest)}`,
    `  records       ${records.consents}: ${verdictsText(records)}`,
    `  decisions     ${decisionsText(records)}`,
    `  personal data ${counted(records.disclosed_values, 'value')} shown, ${records.withheld_values} withheld, ${counted(records.erased, 'record')} erased`,
    `  work          ${workText(work)}`,
    `  checked by    ${printable(`${verifier.name} ${verifier.version}`)}`,
  ];
}

function scopeLines(filter: ReportedFilter | null, coverage: VerificationReport['coverage']): string[] {
  return [
    ...(filter === null
      ? []
      : [`  requested     ${printable(filterText(filter))}`, `  values        ${printable(discloseText(filter))}`]),
    ...(coverage === null
      ? []
      : [
          `  consents and erasures are ${coverageText(coverage.consents)}`,
          `  documents and configurations are ${coverageText(coverage.notices)}`,
        ]),
  ];
}

function checkLines(check: CheckResult): string[] {
  const { counts, problems } = check;
  const total = counts.pass + counts.fail + counts.indeterminate;
  const amount = total > 1 ? ` (${counts.pass} of ${total})` : '';
  const isQuiet = check.outcome === 'indeterminate' && !check.required;
  const lines = [`  ${MARKS[check.outcome]} ${check.id.padEnd(24)} ${check.meaning}${amount}`];
  if (check.outcome === 'not-applicable') return [`${lines[0]} Not applicable.`];
  if (check.because.length > 0) return [...lines, `      ${becauseText(check)}`];
  const affected = check.affects.length === 0 ? [] : [`      ${affectsText(check)}`];
  if (isQuiet && counts.indeterminate > 1) return [...lines, `      ${printable(check.message)}`, ...affected];
  const own = problems.filter(({ because }) => because === undefined);
  lines.push(...own.slice(0, SHOWN_PROBLEMS).map(problemLine));
  const more = counts.fail + counts.indeterminate - Math.min(SHOWN_PROBLEMS, own.length);
  if (more > 0) lines.push(`      … and ${more} more`);
  return [...lines, ...affected];
}

function problemLine(problem: Problem): string {
  return `      ${MARKS[problem.outcome]} ${placeText(problem)}${printable(problem.message)}`;
}

function placeText(place: Omit<Problem, 'message' | 'outcome'>): string {
  const parts = [
    place.file === undefined ? null : printable(place.file),
    place.line === undefined ? null : `line ${place.line}`,
    place.stream === undefined ? null : `${printable(place.stream)} revision ${place.revision}`,
    place.event_id === undefined ? null : `record ${printable(place.event_id)}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? '' : `${parts.join(', ')}: `;
}

function warningLines({ warnings }: VerificationReport): string[] {
  if (warnings.count === 0) return [];
  const shown = warnings.first.slice(0, SHOWN_PROBLEMS);
  const more = warnings.count - shown.length;
  return [
    '',
    'Warnings',
    ...shown.map((warning) => `  ! ${placeText(warning)}${printable(warning.message)}`),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ];
}
