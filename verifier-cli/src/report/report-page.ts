import { counted } from '../../../schemas/text/counted.js';
import type { CheckId } from '../findings/check-table.js';
import type { CheckResult } from '../findings/findings.js';
import { consentsTable } from '../list/consents-table.js';
import type { ConsentListing } from '../list/listed-consent.js';
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
import { element, type Markup } from './markup.js';
import {
  facts,
  foreign,
  list,
  momentText,
  outcomeMark,
  placeText,
  section,
  sourceBlock,
  timeText,
  verdictBanner,
} from './page-parts.js';
import { printable } from './printable.js';
import type { ReportedStamp, ReportedText, VerificationReport } from './report.js';
import { groupStamps } from './stamp-groups.js';
import { missingStamps } from './stamp-lines.js';
import { verdictWording } from './wording.js';

const SHOWN_PROBLEMS = 10;

/** Records in the table of a report. */
export const SHOWN_RECORDS = 500;

/**
 * The report as a page for people: the verdict, what it proves and does not prove, the records, and then
 * the checks.
 * @param listing the consents of the package; null: they are not shown
 */
export function reportPage(report: VerificationReport, listing: ConsentListing | null = null): Markup {
  const isDevelopment = report.package.development === true;
  return element(
    'article',
    { lang: 'en' },
    element(
      'header',
      {},
      element('h1', {}, 'Evidence of consent: verification report'),
      verdictBanner(verdictWording(report.verdict, isDevelopment), report.as_of, statementOf(report)),
    ),
    ...developmentNotice(report),
    // Why the verdict is not better precedes what is proved nevertheless.
    ...attention(report.checks),
    proofs(report),
    section('What the package does not prove', list(report.not_proved.map(printable))),
    ...warnings(report),
    ...(listing === null ? [] : records(listing, isDevelopment)),
    times(report),
    about(report),
    ...texts(report),
    checks(report),
    stamps(report),
    ...witnesses(report),
    ...promises(report),
  );
}

/** The verdict as a statement about the records. */
function statementOf({ verdict, records: { consents, verdicts } }: VerificationReport): string {
  const these = consents === 1 ? 'This record is' : `These ${consents} records are`;
  if (verdict === 'valid') return consents === 0 ? 'The package contains no record.' : `${these} as sealed.`;
  if (verdict === 'invalid') return 'Do not rely on this package.';
  return `No record was found to be altered, but ${verdicts.valid === 0 ? 'none' : `not all of ${consents}`} is proved.`;
}

function records({ consents, count }: ConsentListing, isDevelopment: boolean): Markup[] {
  if (count === 0) return [];
  const hint = 'To list all of them, use consent-verify list, or open the package in the verifier page.';
  const rest = count > SHOWN_RECORDS ? [element('p', { class: 'rest' }, hint)] : [];
  const table = consentsTable(consents.slice(0, SHOWN_RECORDS), count, isDevelopment);
  return [element('section', { class: 'record-list' }, element('h2', {}, 'Records'), table, ...rest)];
}

function developmentNotice({ package: about }: VerificationReport): Markup[] {
  if (about.development !== true) return [];
  const text =
    'A development time stamp authority stamped this ledger. Anyone can run one and set its clock: use this package for trials only.';
  return [element('p', { class: 'attention' }, element('strong', {}, 'Not evidence. '), text)];
}

function times({ verdict, proved, records, sound_until: soundUntil }: VerificationReport): Markup {
  const existed =
    proved.not_after === null
      ? proved.batches === 0
        ? 'Not proved: the package contains no sealed batch.'
        : `Not proved: ${missingStamps(proved.required_stamps)} for ${proved.batches_without_stamp} of ${counted(proved.batches, 'batch', 'batches')}.`
      : timeText(proved.not_after);
  return section(
    'Proved times',
    element('p', {}, 'Stated by time stamp authorities that you trust. The service cannot change them.'),
    ...(verdict === 'invalid'
      ? [
          element(
            'p',
            { class: 'fail' },
            'A check failed. These times are valid for the stamped data, which may differ from the content of this package.',
          ),
        ]
      : []),
    element(
      'section',
      { class: 'proved' },
      facts([
        ['Everything existed by', element('strong', {}, existed)],
        ['The earliest records existed by', proved.earliest && timeText(proved.earliest)],
        [
          'All of it was sealed after',
          proved.not_before === null ? 'not proved: there is no earlier time stamp' : timeText(proved.not_before),
        ],
        [
          'Algorithms and certificates are sound until',
          soundUntil === null
            ? 'unknown: there is no valid time stamp'
            : `${momentText(soundUntil.date)} (${printable(soundUntil.reason)}), unless a new time stamp renews them before`,
        ],
      ]),
    ),
    ...(records.claimed === null
      ? []
      : [
          element('p', {}, 'Claimed by the service, and not proved exactly:'),
          facts([
            ['Consents given', `from ${momentText(records.claimed.first)} to ${momentText(records.claimed.last)}`],
          ]),
        ]),
  );
}

function proofs({ proves, verdict }: VerificationReport): Markup {
  const nothing =
    verdict === 'invalid'
      ? 'Nothing as a whole, because a check failed. The failed checks are listed below.'
      : 'Nothing yet. The open checks are listed below.';
  return section(
    'What the package proves',
    proves.length === 0 ? element('p', {}, nothing) : list(proves.map(printable)),
  );
}

function about({
  package: about,
  policy,
  newest,
  records,
  coverage,
  work,
  verifier,
  verified_at: at,
}: VerificationReport): Markup {
  return section(
    'Checked package',
    facts([
      ['Ledger', foreign(about.origin ?? 'unknown')],
      ['Site', foreign(about.site?.domain ?? about.site_id ?? 'unknown')],
      ['Site id', about.site === null ? null : element('code', {}, printable(about.site_id ?? 'unknown'))],
      ['Controller', about.site && foreign(about.site.controller)],
      ['Contact of the controller', about.site && foreign(about.site.contact)],
      ['Requested', about.filter && foreign(filterText(about.filter))],
      ['Requested values', about.filter && foreign(discloseText(about.filter))],
      ['Consents and erasures', coverage && coverageText(coverage.consents)],
      ['Documents and configurations', coverage && coverageText(coverage.notices)],
      ['Exported', [`${momentText(about.exported_at ?? 'unknown')} by `, foreign(about.exported_by ?? 'unknown')]],
      ['Policy', policyText(policy)],
      ['Authorities', authoritiesText(newest)],
      ['Witnesses', witnessesText(newest)],
      ['Records', `${records.consents}: ${verdictsText(records)}`],
      ['Decisions', decisionsText(records)],
      [
        'Personal details',
        `${records.disclosed_values} shown, ${records.withheld_values} withheld, ${counted(records.erased, 'record')} erased`,
      ],
      ['Without time stamp', about.not_yet_stamped === null ? null : counted(about.not_yet_stamped, 'further consent')],
      ['Work', workText(work)],
      ['Checked at', momentText(at)],
      ['Checked by', printable(`${verifier.name} ${verifier.version}`)],
    ]),
  );
}

function witnesses({ witnesses: { checkpoint, cosigned, missing, others } }: VerificationReport): Markup[] {
  if (cosigned.length + missing.length + others === 0) return [];
  return [
    section(
      'Witnesses',
      element(
        'p',
        {},
        `Cosignatures of the newest checkpoint (${checkpoint ?? 'none'}). Each time is stated by the witness.`,
      ),
      list([
        ...cosigned.map(({ name, time }) => element('span', {}, foreign(name), ` cosigned it at ${momentText(time)}`)),
        ...missing.map((name) => element('span', {}, foreign(name), ' did not cosign it')),
        ...(others === 0 ? [] : [`${counted(others, 'cosignature')} by keys that you did not give`]),
      ]),
    ),
  ];
}

function promises({ promises: given }: VerificationReport): Markup[] {
  if (given.length === 0) return [];
  return [
    section(
      'Promises of the service',
      list(
        given.map(({ file, outcome, message }) =>
          element('span', {}, foreign(file), ': ', element('strong', {}, outcome), ', ', foreign(message)),
        ),
      ),
    ),
  ];
}

/** What a reader must look at before anything else. */
function attention(checks: readonly CheckResult[]): Markup[] {
  const isRequired = (id: CheckId): boolean => checks.some((check) => check.id === id && check.required);
  const bad = checks.filter(
    ({ outcome, required, because, affects }) =>
      because.length === 0 &&
      (outcome === 'fail' || (outcome === 'indeterminate' && (required || affects.some(isRequired)))),
  );
  if (bad.length === 0) return [];
  return [section('Failed and open checks', ...bad.flatMap(badCheck))];
}

function badCheck({ id, outcome, meaning, counts, problems, affects }: CheckResult): Markup[] {
  const own = problems.filter(({ because }) => because === undefined);
  const more = counts.fail + counts.indeterminate - Math.min(SHOWN_PROBLEMS, own.length);
  return [
    element('h3', {}, outcomeMark(outcome), ' ', meaning, ' ', element('code', { class: 'id' }, id)),
    list([
      ...own
        .slice(0, SHOWN_PROBLEMS)
        .map((problem) => element('span', {}, placeText(problem), foreign(problem.message))),
      ...(more > 0 ? [`and ${more} more`] : []),
      ...(affects.length === 0 ? [] : [affectsText({ affects })]),
    ]),
  ];
}

function warnings({ warnings: { count, first } }: VerificationReport): Markup[] {
  if (count === 0) return [];
  const shown = first.slice(0, SHOWN_PROBLEMS);
  return [
    section(
      'Warnings',
      list([
        ...shown.map((warning) => element('span', {}, placeText(warning), foreign(warning.message))),
        ...(count > shown.length ? [`and ${count - shown.length} more`] : []),
      ]),
    ),
  ];
}

function texts({ texts: { count, first } }: VerificationReport): Markup[] {
  if (count === 0) return [];
  return [
    section(
      'The texts consented to',
      element('p', {}, 'The source, exactly as in the package. Invisible characters are written as \\u{…}.'),
      ...first.flatMap(textParts),
      ...(count > first.length
        ? [element('p', {}, `This report does not show ${count - first.length} more texts.`)]
        : []),
    ),
  ];
}

/** One text with what its publication says of it. */
export function textParts(text: ReportedText): Markup[] {
  return [
    element('h3', {}, foreign(text.title ?? 'Unknown title'), ' ', outcomeMark(text.outcome)),
    facts([
      ['Version', text.number === null ? null : String(text.number)],
      ['Language', foreign(text.language)],
      ['Published', text.published_at === null ? null : momentText(text.published_at)],
      ['Media type', text.media_type === null ? null : foreign(text.media_type)],
      ['Id', element('code', {}, printable(text.document_version_id))],
      ['SHA-256', element('code', {}, printable(text.sha256))],
    ]),
    text.source === null
      ? element('p', {}, 'Not shown: the text is missing, was changed, is too long, or is not UTF-8.')
      : sourceBlock(text.source, text.media_type),
  ];
}

function checks({ checks: results }: VerificationReport): Markup {
  const open = results.filter(({ outcome }) => outcome === 'fail' || outcome === 'indeterminate');
  const passed = results.filter(({ outcome }) => outcome === 'pass');
  const others = results.filter(({ outcome }) => outcome === 'not-applicable');
  return section(
    'All checks',
    ...(open.length === 0 ? [] : [checksTable(open)]),
    ...folded(`${counted(passed.length, 'check')} passed`, passed),
    ...folded(`${counted(others.length, 'check')} not applicable to this package`, others),
  );
}

function folded(summary: string, results: readonly CheckResult[]): Markup[] {
  if (results.length === 0) return [];
  return [element('details', {}, element('summary', {}, summary), checksTable(results))];
}

function checksTable(results: readonly CheckResult[]): Markup {
  const head = element(
    'thead',
    {},
    element('tr', {}, ...['Outcome', 'Check', 'Passed'].map((name) => element('th', { scope: 'col' }, name))),
  );
  return element('table', { class: 'checks' }, head, element('tbody', {}, ...results.map(checkRow)));
}

function checkRow({ id, outcome, meaning, message, counts, required, because }: CheckResult): Markup {
  const total = counts.pass + counts.fail + counts.indeterminate;
  const text = because.length > 0 ? becauseText({ because }) : message;
  const note = outcome === 'pass' || message === meaning ? [] : [element('p', { class: 'problem' }, foreign(text))];
  const weight =
    required || outcome !== 'indeterminate'
      ? []
      : [element('p', { class: 'problem id' }, 'The verdict does not require this check.')];
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, outcomeMark(outcome)),
    element('td', {}, meaning, ' ', element('code', { class: 'id' }, id), ...note, ...weight),
    element('td', {}, total === 0 ? '' : `${counts.pass} of ${total}`),
  );
}

function stamps({ stamps: { count, first } }: VerificationReport): Markup {
  const head = element(
    'thead',
    {},
    element(
      'tr',
      {},
      ...['Outcome', 'Time stated', 'Authority', 'Sound until'].map((name) => element('th', { scope: 'col' }, name)),
    ),
  );
  const rows = groupStamps(first).map(({ stamp, earliest, latest, stamps: group }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, outcomeMark(stamp.outcome)),
      element('td', {}, ...timesOf(earliest, latest, group)),
      element('td', {}, foreign(stamp.authority ?? 'unknown'), ` (${filesText(group)})`, ...anchor(stamp)),
      element(
        'td',
        {},
        stamp.sound_until === null ? '' : momentText(stamp.sound_until.date).slice(0, 10),
        ...renewal(stamp),
      ),
    ),
  );
  const caption =
    first.length < count ? `The newest ${first.length} of ${count} time stamps.` : `${count} time stamps.`;
  return section(
    'Time stamps',
    element('table', {}, element('caption', {}, caption), head, element('tbody', {}, ...rows)),
  );
}

function timesOf(earliest: string | null, latest: string | null, group: readonly ReportedStamp[]): Markup[] {
  if (earliest === null || latest === null) return ['unknown'];
  if (group.length === 1) return [momentText(earliest)];
  return [`${group.length} from ${momentText(earliest)} to ${momentText(latest)}`];
}

function filesText(group: readonly ReportedStamp[]): string {
  const files = group.map(({ file }) => printable(file));
  return files.length < 3 ? files.join(', ') : `${files[0]} … ${files.at(-1)}`;
}

function anchor({ organization }: ReportedStamp): Markup[] {
  return organization === null ? [] : [element('p', {}, 'root of ', foreign(organization))];
}

function renewal({ renewed_by: by }: ReportedStamp): Markup[] {
  return by === null
    ? []
    : [
        element(
          'p',
          { class: 'problem' },
          `renewed on ${momentText(by.time)} by the stamp over checkpoint ${by.checkpoint}`,
        ),
      ];
}
