import type { VendorList } from '../../../schemas/iab/vendor-list.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import type { Texts } from '../i18n/texts.js';
import { element, type Markup } from '../rendering/markup.js';
import {
  details,
  facts,
  finding,
  foreign,
  outcomeMark,
  section,
  sourceBlock,
  verdictBanner,
} from '../rendering/page-parts.js';
import { printable } from '../rendering/printable.js';
import { momentText, timeText } from '../rendering/times-text.js';
import { quietVerdict, type TrustSource, verdictWording, wordOf } from '../rendering/wording.js';
import { authoritiesText, witnessesText } from '../report/coverage-text.js';
import { textParts } from '../report/report-page.js';
import { certificateOf, certificateTitle, stateOfHidden, unprovedText } from './certificate.js';
import { drawnBanner } from './drawn-banner.js';
import type { ShownAttachment } from './shown-attachments.js';
import type { PathStep, ShownRecord } from './shown-record.js';

/**
 * Renders one record as a page for readers: its verdict, the proved times, what it says, the exact text consented to,
 * and the steps of its proof.
 * @param list the vendor list that the configuration names, if it was given
 */
export function recordPage(
  shown: ShownRecord,
  texts: Texts,
  list: VendorList | null = null,
  trust: TrustSource = 'reader',
): Markup {
  const { record, language } = texts;
  return element(
    'article',
    { lang: language },
    element(
      'header',
      {},
      element('h1', {}, shown.consent_token === null ? record.eventTitle : record.title),
      element('p', {}, element('code', {}, foreign(shown.consent_token ?? shown.event_id))),
      verdictBanner(verdictWording(shown.verdict, shown.development, texts, trust), { asOf: shown.as_of }, texts),
      ...packageNote(shown, texts),
      ...shown.warning_findings.map((warning) => element('p', { class: 'attention' }, finding(warning, texts))),
    ),
    ...certificate(shown, texts, list, trust),
    ...question(shown, texts),
    ...attachments(shown, texts),
    ...text(shown, texts),
    ...personal(shown, texts),
    times(shown, texts),
    details(record.members, facts(members(shown.record, texts))),
    details(record.proofFolded, proof(shown, texts)),
    checks(shown, texts),
  );
}

/** The record in words, as a certificate states it. */
function certificate(shown: ShownRecord, texts: Texts, list: VendorList | null, trust: TrustSource): Markup[] {
  const lines = certificateOf(shown, texts, list);
  if (lines === null) return [];
  const stated = lines.map(([name, value]): [string, Markup] => [name, foreign(value)]);
  const title = element('h2', {}, certificateTitle(shown, texts, trust));
  return [element('section', { class: 'certificate' }, title, facts(stated))];
}

/** The banner as it was stated to have been shown, drawn from the sealed words. */
function question(shown: ShownRecord, { record }: Texts): Markup[] {
  const found = drawnBanner(shown);
  if (found === null) return [];
  const { presentation: words } = record;
  if (typeof found === 'string') return [section(words.drawn, element('p', {}, words.notDrawn[found]))];
  const { drawing, layout, version, channel } = found;
  return [
    section(words.drawn, element('p', {}, words.drawnBy(layout, version), ' ', words.statedBy[channel]), { drawing }),
  ];
}

/** The files of the person: a picture is shown, a text is shown as its source, and others are named. */
function attachments({ attachments: files }: ShownRecord, texts: Texts): Markup[] {
  const { record } = texts;
  return files.map((file) =>
    section(
      wordOf(record.fields, file.name),
      ...content(file, texts),
      facts([
        [record.sentAs, foreign(file.media_type)],
        [record.size, record.bytes(file.size)],
        ['SHA-256', element('code', {}, printable(file.sha256))],
        [record.inPackage, element('code', {}, printable(file.file))],
      ]),
    ),
  );
}

function content({ name, picture, text: source, media_type: type, base64 }: ShownAttachment, texts: Texts): Markup[] {
  const { record } = texts;
  if (picture !== null && base64 !== null)
    return [element('p', {}, record.signatureText), { picture, base64, alt: wordOf(record.fields, name) }];
  if (name !== 'custom_document_content') return [element('p', {}, record.notAPicture)];
  if (source === null) return [element('p', {}, record.documentNotShown)];
  return [element('p', {}, record.documentSource), sourceBlock(source, type)];
}

function packageNote({ verdict, package_verdict: whole, development }: ShownRecord, texts: Texts): Markup[] {
  if (whole === verdict) return [];
  const word = quietVerdict(verdictWording(whole, development, texts), texts);
  return [element('p', {}, texts.record.wholePackage(word))];
}

function times(shown: ShownRecord, texts: Texts): Markup {
  const { proved, newest, record: stated } = shown;
  const { record, report, words } = texts;
  const claimed = typeof stated === 'object' && stated !== null && !Array.isArray(stated) ? stated.created_at : null;
  const existedBy = proved.before === null ? unprovedText(shown, texts) : timeText(proved.before);
  return section(
    report.times,
    ...(shown.development === true ? [] : [element('p', {}, report.timesText)]),
    facts([
      [record.existedBy, element('strong', {}, existedBy)],
      [record.sealedAfter, proved.after === null ? words.notProved : timeText(proved.after)],
    ]),
    element('p', {}, report.claimed),
    facts([[record.created, typeof claimed === 'string' ? foreign(momentText(claimed)) : words.unknown]]),
    details(
      words.details,
      facts([
        [report.authorities, authoritiesText(newest, texts)],
        [report.witnesses, witnessesText(newest, texts)],
      ]),
    ),
  );
}

function members(stated: JsonValue, { record }: Texts): [string, Markup][] {
  if (stated === null || typeof stated !== 'object' || Array.isArray(stated))
    return [[record.member, record.unreadable]];
  return Object.entries(stated)
    .filter(([name]) => name !== 'disclosures')
    .map(([name, value]) => [printable(name), valueMarkup(value ?? null)]);
}

function valueMarkup(value: JsonValue): Markup {
  return typeof value === 'string' ? foreign(value) : element('code', {}, foreign(JSON.stringify(value)));
}

function personal(shown: ShownRecord, texts: Texts): Markup[] {
  const { record } = texts;
  const { disclosed, withheld, person, consent_token: token } = shown;
  if (token === null) return [];
  const state = stateOfHidden(shown, texts);
  const hidden = withheld === 0 ? record.allShown : record.values(withheld, state);
  const values = disclosed.map(({ name, value }): [string, Markup] => [
    wordOf(record.fields, name),
    valueMarkup(value),
  ]);
  const opened: [string, Markup][] =
    person === null ? [] : [[record.personName, foreign(record.personOpened(person.n, person.id))]];
  return [section(record.personal, facts([...values, ...opened, [record.notShown, hidden]]))];
}

function text({ text: source }: ShownRecord, texts: Texts): Markup[] {
  if (source === null) return [];
  const { record, report } = texts;
  return [section(record.exactText, element('p', {}, report.textsSource), ...textParts(source, texts))];
}

function proof({ proof: { checkpoint, stamp, ...found } }: ShownRecord, texts: Texts): Markup {
  const { record, words, evidence } = texts;
  const hash = (hex: string | null): Markup => (hex === null ? words.unknown : element('code', {}, printable(hex)));
  return section(
    record.proof,
    element('p', {}, record.proofText),
    facts([
      [record.entry, record.entryLine(found.line)],
      [record.leaf, hash(found.leaf)],
      [record.position, record.positionText(found.batch, found.index, String(found.count ?? words.unknown))],
    ]),
    ...steps(record.toBatchRoot, found.batch_path, texts),
    facts([
      [record.batchRoot, hash(found.batch_root)],
      [record.headerLeaf, hash(found.header_leaf)],
    ]),
    ...steps(record.toLedgerRoot, found.ledger_path, texts),
    facts([
      [record.ledgerRoot, checkpoint === null ? evidence.noCheckpoint : hash(checkpoint.root)],
      [record.signedIn, checkpoint === null ? null : record.signedInText(printable(checkpoint.file), checkpoint.size)],
      [
        record.timestamp,
        stamp === null
          ? record.noStamp
          : [record.stampBy(printable(stamp.file)), foreign(stamp.authority ?? words.unknown)],
      ],
    ]),
  );
}

function steps(caption: string, path: readonly PathStep[] | null, { record }: Texts): Markup[] {
  if (path === null) return [element('p', { class: 'fail' }, record.noPath(caption))];
  if (path.length === 0) return [element('p', {}, record.emptyPath(caption))];
  const rows = path.map(({ side, hash }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, record.sides[side]),
      element('td', {}, element('code', {}, printable(hash))),
    ),
  );
  return [element('table', {}, element('caption', {}, caption), element('tbody', {}, ...rows))];
}

function checks({ checks: results }: ShownRecord, texts: Texts): Markup {
  const { record, report } = texts;
  const names = [report.outcome, report.check].map((name) => element('th', { scope: 'col' }, name));
  const rows = results.map(({ id, outcome, findings }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, outcomeMark(outcome, texts)),
      element(
        'td',
        {},
        texts.checks(id),
        ' ',
        element('code', { class: 'id' }, id),
        ...(outcome === 'pass'
          ? []
          : findings.map((found) => element('p', { class: 'problem' }, finding(found, texts)))),
      ),
    ),
  );
  const head = element('thead', {}, element('tr', {}, ...names));
  const table = element('table', {}, head, element('tbody', {}, ...rows));
  const open = results.filter(({ outcome }) => outcome === 'fail' || outcome === 'indeterminate');
  // The proof hash is undecided in every package, because only the tenant can check it.
  const isQuiet = open.every(({ id, outcome }) => id === 'record.proof-hash' && outcome === 'indeterminate');
  return isQuiet ? details(record.checksPassed(results.length - open.length), table) : section(record.checks, table);
}
