import type { CheckId } from '../findings/checks.js';
import type { CheckResult } from '../findings/findings.js';
import type { Texts } from '../i18n/texts.js';
import { consentsTable } from '../list/consents-table.js';
import type { ConsentListing } from '../list/listed-consent.js';
import { type Element, element, type Markup } from '../rendering/markup.js';
import {
  details,
  facts,
  finding,
  foreign,
  list,
  outcomeMark,
  placeText,
  recordMark,
  section,
  sourceBlock,
  verdictBanner,
} from '../rendering/page-parts.js';
import { printable } from '../rendering/printable.js';
import { momentText, timeText } from '../rendering/times-text.js';
import { type TrustSource, verdictWording } from '../rendering/wording.js';
import { listSections } from './contents.js';
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
import type { ReportedStamp, ReportedText, VerificationReport } from './report.js';
import { scanFacts } from './scan-text.js';
import { groupStamps } from './stamp-groups.js';

const SHOWN_PROBLEMS = 10;
/** Findings that say only what the reader did not give. */
const NOT_GIVEN: ReadonlySet<string | undefined> = new Set(['root-not-given', 'ledger-key-not-given']);

/** Maximum number of records in the table of a report. */
export const SHOWN_RECORDS = 500;

/** The two parts of a report: what a reader sees first, and the rest. */
export interface ReportParts {
  readonly head: readonly Markup[];
  readonly body: readonly Markup[];
}

/**
 * The report as a page for readers: the verdict, what it proves and does not prove, the records, and then the checks.
 * @param listing the consents of the package, or null if they are not shown
 */
export function reportPage(report: VerificationReport, texts: Texts, listing: ConsentListing | null = null): Markup {
  const { head, body } = reportParts(report, texts, listing);
  return element('article', { lang: texts.language }, ...head, ...body);
}

/**
 * The report as separate parts, for a page that shows something between them.
 * @param listing the consents of the package, or null if they are not shown
 * @param options banners that stand before or after the verdict, and whose keys and roots it rests on
 */
export function reportParts(
  report: VerificationReport,
  texts: Texts,
  listing: ConsentListing | null,
  {
    before = [],
    after = [],
    trust = 'reader',
  }: { readonly before?: readonly Markup[]; readonly after?: readonly Markup[]; readonly trust?: TrustSource } = {},
): ReportParts {
  const isDevelopment = report.package.development === true;
  const { report: words } = texts;
  const { contents, sections } = listSections(words.contents, [
    // The reasons for the verdict come before the statements that are proved in spite of them.
    ...attention(report.checks, texts),
    ...(trust === 'operator' ? [] : [proofs(report, texts)]),
    section(words.notProved, list(notProved(report, texts).map(printable))),
    ...warnings(report, texts),
    ...promises(report, texts),
    ...(listing === null ? [] : records(listing, isDevelopment, texts)),
    times(report, texts),
    about(report, texts),
    repetition(report, texts),
    ...textSection(report, texts),
    ...scanSection(report, texts),
    checks(report, texts),
    stamps(report, texts),
    ...witnesses(report, texts),
  ]);
  const header = element(
    'header',
    {},
    element('h1', {}, words.title),
    ...before,
    verdictBanner(
      verdictWording(report.verdict, isDevelopment, texts, trust),
      {
        asOf: report.as_of,
        statement: trust === 'operator' && report.verdict === 'valid' ? null : recordsStatement(report, texts),
        missing: firstStatement(report, texts),
        persons: personLines(report, texts),
      },
      texts,
    ),
    ...after,
  );
  const overdue = overdueLines(report, texts).map((line) => element('p', { class: 'headline' }, foreign(line)));
  return { head: [header, ...overdue, ...developmentNotice(report, texts), contents], body: sections };
}

function records({ consents, count }: ConsentListing, isDevelopment: boolean, texts: Texts): Element[] {
  if (count === 0) return [];
  const { report } = texts;
  const rest = count > SHOWN_RECORDS ? [element('p', { class: 'rest' }, report.listAll)] : [];
  const table = consentsTable(consents.slice(0, SHOWN_RECORDS), count, isDevelopment, texts);
  // While it is checked, the style sheet opens all details, because there is no script.
  const option = element(
    'label',
    { class: 'all-details' },
    element('input', { type: 'checkbox' }),
    ` ${report.allDetails}`,
  );
  return [element('section', { class: 'record-list' }, element('h2', {}, report.records), option, table, ...rest)];
}

function developmentNotice({ package: about }: VerificationReport, { report }: Texts): Markup[] {
  if (about.development !== true) return [];
  return [element('p', { class: 'attention' }, element('strong', {}, `${report.notEvidence} `), report.development)];
}

function times(found: VerificationReport, texts: Texts): Element {
  const { verdict, proved, records, trust, sound_until: soundUntil } = found;
  const { report } = texts;
  const existed =
    proved.not_after !== null
      ? timeText(proved.not_after)
      : proved.batches === 0
        ? report.noBatch
        : trust.roots.length === 0
          ? report.rootNotGiven
          : report.unstamped(proved.required_stamps, proved.batches_without_stamp, proved.batches);
  return section(
    report.times,
    ...(found.package.development === true ? [] : [element('p', {}, report.timesText)]),
    ...(verdict === 'invalid' ? [element('p', { class: 'fail' }, report.timesInvalid)] : []),
    element(
      'section',
      { class: 'proved' },
      facts([
        [report.existedBy, element('strong', {}, existed)],
        [report.earliest, proved.earliest && `${timeText(proved.earliest)}${report.anyEntry}`],
        [report.sealedAfter, proved.not_before === null ? report.noEarlier : timeText(proved.not_before)],
        [
          report.soundUntil,
          soundUntil === null
            ? report.noStamp
            : [
                `${momentText(soundUntil.date)} (`,
                finding({ ...soundUntil, message: soundUntil.reason }, texts),
                ')',
                report.unlessRenewed,
              ],
        ],
      ]),
    ),
    ...(records.claimed === null
      ? []
      : [
          element('p', {}, report.claimed),
          facts([[report.given, report.range(momentText(records.claimed.first), momentText(records.claimed.last))]]),
        ]),
  );
}

function proofs(found: VerificationReport, texts: Texts): Element {
  const { report } = texts;
  const proves = provesOf(found, texts);
  const nothing = found.verdict === 'invalid' ? report.provesNothing : report.provesNothingYet;
  return section(report.proves, proves.length === 0 ? element('p', {}, nothing) : list(proves.map(printable)));
}

function about(found: VerificationReport, texts: Texts): Element {
  const { package: about, policy, newest, records, coverage, work, verifier, verified_at: at } = found;
  const isRecomputed = recomputedBy(found).length > 0;
  const { report, words } = texts;
  return section(
    report.about,
    facts([
      [report.site, foreign(about.site?.domain ?? about.site_id ?? words.unknown)],
      [report.controller, about.site && foreign(about.site.controller)],
      [report.contact, about.site && foreign(about.site.contact)],
      [report.operator, about.origin === null ? null : foreign(report.operatorText(about.origin))],
      ...[...operatorLines(found.operator, texts), ...madeForLines(about.export, texts)].map(
        ([name, value]) => [name, foreign(value)] as const,
      ),
      [report.requested, about.filter && foreign(filterText(about.filter, texts))],
      [report.requestedValues, about.filter && foreign(discloseText(about.filter, texts))],
      [
        report.exported,
        [`${momentText(about.exported_at ?? words.unknown)}${report.by}`, foreign(about.exported_by ?? words.unknown)],
      ],
      [report.records, `${records.consents}: ${verdictsText(found, texts)}`],
      [report.decisions, decisionsText(records, texts)],
      [report.personal, report.personalCounts(records.disclosed_values, records.withheld_values, records.erased)],
      [report.withoutStamp, about.not_yet_stamped === null ? null : report.furtherConsents(about.not_yet_stamped)],
      [report.checkedAt, momentText(at)],
      [report.checkedBy, printable(`${verifier.name} ${verifier.version}`)],
    ]),
    details(
      words.details,
      facts([
        [report.ledger, foreign(about.origin ?? words.unknown)],
        [report.siteId, about.site === null ? null : element('code', {}, printable(about.site_id ?? words.unknown))],
        [report.consents, coverage && coverageText(coverage.consents, isRecomputed, texts)],
        [report.notices, coverage && coverageText(coverage.notices, isRecomputed, texts)],
        [report.policy, policyText(policy, texts)],
        [report.authorities, authoritiesText(newest, texts)],
        [report.witnesses, witnessesText(newest, texts)],
        [report.work, workText(work, texts)],
      ]),
    ),
  );
}

/** Lists the inputs of the verdict besides the package, so that others can check it again. */
function repetition({ trust, package: about }: VerificationReport, { report, words }: Texts): Element {
  const keys = trust.ledger_keys.map((key): [string, Markup] => [report.keyGiven, element('code', {}, foreign(key))]);
  const roots = trust.roots.map(({ subject, sha256 }): [string, readonly Markup[]] => [
    report.rootGiven,
    [foreign(subject), element('p', { class: 'id' }, element('code', {}, report.sha256(printable(sha256))))],
  ]);
  const noKey = printable(report.noKeyGiven(about.origin ?? words.unknown));
  return section(
    report.repeat,
    element('p', {}, report.repeatText),
    facts([
      ...(keys.length === 0 ? [[report.keyGiven, noKey] as const] : keys),
      ...(roots.length === 0 ? [[report.rootGiven, report.noRootGiven] as const] : roots),
      [report.verifier, `${report.verifierText} ${report.genuine}`],
    ]),
  );
}

function witnesses(found: VerificationReport, { report, words }: Texts): Element[] {
  const { checkpoint, cosigned, missing, others } = found.witnesses;
  if (cosigned.length + missing.length + others === 0) return [];
  return [
    section(
      report.witnesses,
      element('p', {}, report.witnessesText(String(checkpoint ?? words.none))),
      list([
        ...cosigned.map(({ name, time }) => element('span', {}, foreign(name), report.cosigned(momentText(time)))),
        ...missing.map((name) => element('span', {}, foreign(name), report.notCosigned)),
        ...(others === 0 ? [] : [report.otherCosignatures(others)]),
      ]),
    ),
  ];
}

function promises({ promises: given }: VerificationReport, texts: Texts): Element[] {
  if (given.length === 0) return [];
  return [
    section(
      texts.report.promises,
      list(
        given.map((promise) =>
          element(
            'span',
            {},
            foreign(promise.file),
            ': ',
            element('strong', {}, texts.report.promiseOutcomes[promise.outcome]),
            ', ',
            finding(promise, texts),
          ),
        ),
      ),
    ),
  ];
}

/** Lists the failed and open checks that a reader must look at before anything else. */
function attention(checks: readonly CheckResult[], texts: Texts): Element[] {
  const isRequired = (id: CheckId): boolean => checks.some((check) => check.id === id && check.required);
  const bad = checks.filter(
    ({ outcome, required, because, affects, problems }) =>
      because.length === 0 &&
      // The verdict names a missing key or root already.
      !(problems.length > 0 && problems.every(({ code }) => NOT_GIVEN.has(code))) &&
      (outcome === 'fail' || (outcome === 'indeterminate' && (required || affects.some(isRequired)))),
  );
  if (bad.length === 0) return [];
  return [section(texts.report.badChecks, ...bad.flatMap((check) => badCheck(check, texts)))];
}

function badCheck({ id, outcome, counts, problems, affects }: CheckResult, texts: Texts): Markup[] {
  const { words } = texts;
  const own = problems.filter(({ because }) => because === undefined);
  const more = counts.fail + counts.indeterminate - Math.min(SHOWN_PROBLEMS, own.length);
  return [
    element('h3', {}, outcomeMark(outcome, texts), ' ', texts.checks(id), ' ', element('code', { class: 'id' }, id)),
    list([
      ...own
        .slice(0, SHOWN_PROBLEMS)
        .map((problem) => element('span', {}, placeText(problem, texts), finding(problem, texts))),
      ...(more > 0 ? [words.more(more)] : []),
      ...(affects.length === 0 ? [] : [words.affects(affects)]),
    ]),
  ];
}

function warnings({ warnings: { count, first } }: VerificationReport, texts: Texts): Element[] {
  if (count === 0) return [];
  const shown = first.slice(0, SHOWN_PROBLEMS);
  return [
    section(
      texts.report.warnings,
      list([
        ...shown.map((warning) => element('span', {}, placeText(warning, texts), finding(warning, texts))),
        ...(count > shown.length ? [texts.words.more(count - shown.length)] : []),
      ]),
    ),
  ];
}

function textSection({ texts: { count, first } }: VerificationReport, texts: Texts): Element[] {
  if (count === 0) return [];
  const { report } = texts;
  return [
    section(
      report.texts,
      element('p', {}, report.textsSource),
      ...first.flatMap((text) => textParts(text, texts)),
      ...(count > first.length ? [element('p', {}, report.moreTexts(count - first.length))] : []),
    ),
  ];
}

function scanSection({ scans: { count, newest }, package: about }: VerificationReport, texts: Texts): Element[] {
  if (count === 0) return [];
  const { scans } = texts.report;
  return [
    section(
      scans.title,
      element('p', {}, scans.intro),
      ...newest
        .toReversed()
        .flatMap((scan) => [
          element('h3', {}, foreign(scan.url), ' ', recordMark(scan.verdict, about.development === true, texts)),
          facts([
            ...scanFacts(scan, texts).map(([name, value]) => [name, foreign(value)] as const),
            [texts.report.id, element('code', {}, printable(scan.event_id))],
          ]),
        ]),
      ...(count > newest.length ? [element('p', {}, scans.more(count - newest.length))] : []),
    ),
  ];
}

/** One text with the statements of its publication about it. */
export function textParts(text: ReportedText, texts: Texts): Markup[] {
  const { report } = texts;
  return [
    element('h3', {}, foreign(text.title ?? report.unknownTitle), ' ', outcomeMark(text.outcome, texts)),
    facts([
      [report.version, text.number === null ? null : String(text.number)],
      [report.language, foreign(text.language)],
      [report.published, text.published_at === null ? null : momentText(text.published_at)],
      [report.mediaType, text.media_type === null ? null : foreign(text.media_type)],
      [report.id, element('code', {}, printable(text.document_version_id))],
      ['SHA-256', element('code', {}, printable(text.sha256))],
    ]),
    text.source === null ? element('p', {}, report.textNotShown) : sourceBlock(text.source, text.media_type),
  ];
}

function checks({ checks: results }: VerificationReport, texts: Texts): Element {
  const { report } = texts;
  const open = results.filter(({ outcome }) => outcome === 'fail' || outcome === 'indeterminate');
  const passed = results.filter(({ outcome }) => outcome === 'pass');
  const others = results.filter(({ outcome }) => outcome === 'not-applicable');
  return section(
    report.checks,
    ...(open.length === 0 ? [] : [checksTable(open, texts)]),
    ...folded(report.checksPassed(passed.length), passed, texts),
    ...folded(report.checksNotApplicable(others.length), others, texts),
  );
}

function folded(summary: string, results: readonly CheckResult[], texts: Texts): Markup[] {
  if (results.length === 0) return [];
  return [details(summary, checksTable(results, texts))];
}

function headRow(...names: readonly string[]): Markup {
  return element('thead', {}, element('tr', {}, ...names.map((name) => element('th', { scope: 'col' }, name))));
}

function checksTable(results: readonly CheckResult[], texts: Texts): Markup {
  const { outcome, check, passed } = texts.report;
  const rows = results.map((result) => checkRow(result, texts));
  return element('table', { class: 'checks' }, headRow(outcome, check, passed), element('tbody', {}, ...rows));
}

function checkRow(result: CheckResult, texts: Texts): Markup {
  const { id, outcome, meaning, message, counts, required, because } = result;
  const { report, words } = texts;
  const total = counts.pass + counts.fail + counts.indeterminate;
  const text = because.length > 0 ? foreign(words.because(because)) : finding(result, texts);
  const note = outcome === 'pass' || message === meaning ? [] : [element('p', { class: 'problem' }, text)];
  const weight =
    required || outcome !== 'indeterminate' ? [] : [element('p', { class: 'problem id' }, report.notRequired)];
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, outcomeMark(outcome, texts)),
    element('td', {}, texts.checks(id), ' ', element('code', { class: 'id' }, id), ...note, ...weight),
    element('td', {}, total === 0 ? '' : report.ofTotal(counts.pass, total)),
  );
}

function stamps({ stamps: { count, first } }: VerificationReport, texts: Texts): Element {
  const { report, words } = texts;
  const rows = groupStamps(first).map(({ stamp, earliest, latest, stamps: group }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, outcomeMark(stamp.outcome, texts)),
      element('td', {}, timesOf(earliest, latest, group, texts)),
      element('td', {}, foreign(stamp.authority ?? words.unknown), ` (${filesText(group)})`, ...anchor(stamp, texts)),
      element(
        'td',
        {},
        stamp.sound_until === null ? '' : momentText(stamp.sound_until.date).slice(0, 10),
        ...renewal(stamp, texts),
      ),
    ),
  );
  const caption = first.length < count ? report.newestStamps(first.length, count) : report.allStamps(count);
  const head = headRow(report.outcome, report.timeStated, report.authority, report.until);
  return section(report.stamps, details(caption, element('table', {}, head, element('tbody', {}, ...rows))));
}

function timesOf(
  earliest: string | null,
  latest: string | null,
  group: readonly ReportedStamp[],
  { report, words }: Texts,
): string {
  if (earliest === null || latest === null) return words.unknown;
  if (group.length === 1) return momentText(earliest);
  return report.manyStamps(group.length, momentText(earliest), momentText(latest));
}

function filesText(group: readonly ReportedStamp[]): string {
  const files = group.map(({ file }) => printable(file));
  return files.length < 3 ? files.join(', ') : `${files[0]} … ${files.at(-1)}`;
}

function anchor({ organization }: ReportedStamp, { report }: Texts): Markup[] {
  return organization === null ? [] : [element('p', {}, report.rootOf, foreign(organization))];
}

function renewal({ renewed_by: by }: ReportedStamp, { report }: Texts): Markup[] {
  return by === null ? [] : [element('p', { class: 'problem' }, report.renewed(momentText(by.time), by.checkpoint))];
}
