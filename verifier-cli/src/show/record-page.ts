import type { JsonValue } from '../../../schemas/json/json-value.js';
import { counted } from '../../../schemas/text/counted.js';
import { CHECKS } from '../findings/check-table.js';
import { authoritiesText, witnessesText } from '../report/coverage-text.js';
import { element, type Markup } from '../report/markup.js';
import { facts, foreign, momentText, outcomeMark, section, timeText, verdictBanner } from '../report/page-parts.js';
import { printable } from '../report/printable.js';
import { textParts } from '../report/report-page.js';
import { verdictWording } from '../report/wording.js';
import { certificateOf, certificateTitle, isErasureStanding, unprovedText } from './certificate.js';
import type { PathStep, ShownRecord } from './shown-record.js';

/**
 * One record as a page for people: its verdict, the proved times, what it says, the exact text
 * consented to, and the way of its proof.
 */
export function recordPage(shown: ShownRecord): Markup {
  return element(
    'article',
    { lang: 'en' },
    element(
      'header',
      {},
      element('h1', {}, shown.consent_token === null ? 'One event of the ledger' : 'One record of consent'),
      element('p', {}, element('code', {}, foreign(shown.consent_token ?? shown.event_id))),
      verdictBanner(verdictWording(shown.verdict, shown.development), shown.as_of),
      ...packageNote(shown),
      ...shown.warnings.map((warning) => element('p', { class: 'attention' }, foreign(warning))),
    ),
    ...certificate(shown),
    ...text(shown),
    ...personal(shown),
    times(shown),
    folded('All members of the record', facts(members(shown.record))),
    folded('Proof, hash by hash', proof(shown)),
    checks(shown),
  );
}

/** The record in words, as a certificate states it. */
function certificate(shown: ShownRecord): Markup[] {
  const lines = certificateOf(shown);
  if (lines === null) return [];
  const stated = lines.map(([name, value]): [string, Markup] => [name, foreign(value)]);
  return [element('section', { class: 'certificate' }, element('h2', {}, certificateTitle(shown)), facts(stated))];
}

function folded(summary: string, content: Markup): Markup {
  return element('details', {}, element('summary', {}, summary), content);
}

function packageNote({ verdict, package_verdict: whole, development }: ShownRecord): Markup[] {
  if (whole === verdict) return [];
  const text = `This verdict is for this record. The verdict of the whole package is ${verdictWording(whole, development).word.toLowerCase()}: see the package report.`;
  return [element('p', {}, text)];
}

function times({ verdict, proved, newest, record }: ShownRecord): Markup {
  const claimed = typeof record === 'object' && record !== null && !Array.isArray(record) ? record.created_at : null;
  return section(
    'Proved times',
    element('p', {}, 'Stated by time stamp authorities that you trust. The service cannot change them.'),
    facts([
      ['Existed by', element('strong', {}, proved.before === null ? unprovedText(verdict) : timeText(proved.before))],
      ['Sealed after', proved.after === null ? 'not proved' : timeText(proved.after)],
      ['Authorities', authoritiesText(newest)],
      ['Witnesses', witnessesText(newest)],
    ]),
    element('p', {}, 'Claimed by the service, and not proved exactly:'),
    facts([['Created', typeof claimed === 'string' ? foreign(momentText(claimed)) : 'unknown']]),
  );
}

function members(record: JsonValue): [string, Markup][] {
  if (record === null || typeof record !== 'object' || Array.isArray(record)) return [['Record', 'unreadable']];
  return Object.entries(record)
    .filter(([name]) => name !== 'disclosures')
    .map(([name, value]) => [printable(name), valueMarkup(value ?? null)]);
}

function valueMarkup(value: JsonValue): Markup {
  return typeof value === 'string' ? foreign(value) : element('code', {}, foreign(JSON.stringify(value)));
}

function personal({ disclosed, withheld, erased, erasure, person, consent_token: token }: ShownRecord): Markup[] {
  if (token === null) return [];
  const hidden =
    withheld === 0
      ? null
      : `${counted(withheld, 'value')}, ${isErasureStanding({ erased, erasure }) ? 'erased' : 'withheld'}`;
  const shown = disclosed.map(({ name, value }): [string, Markup] => [printable(name), valueMarkup(value)]);
  const opened: [string, Markup][] =
    person === null ? [] : [['Person', foreign(`record ${person.n} of the id ${person.id}`)]];
  return [
    section('Personal details', facts([...shown, ...opened, ['Not shown', hidden ?? 'none: all values are shown']])),
  ];
}

function text({ text: source }: ShownRecord): Markup[] {
  if (source === null) return [];
  const note = 'The source, exactly as in the package. Invisible characters are written as \\u{…}.';
  return [section('The exact text consented to', element('p', {}, note), ...textParts(source))];
}

function proof({ proof: { checkpoint, stamp, ...found } }: ShownRecord): Markup {
  return section(
    'Proof',
    element(
      'p',
      {},
      'Each hash is SHA-256. Starting from the leaf hash of the entry, each step hashes the current value with the listed hash as its left or right neighbour (RFC 9162).',
    ),
    facts([
      ['Entry', `line ${found.line} of entries.ndjson`],
      ['Leaf', hash(found.leaf)],
      ['Position', `batch ${found.batch}, index ${found.index} of ${found.count ?? 'unknown'}`],
    ]),
    ...steps('Up to the root of the batch', found.batch_path),
    facts([
      ['Root of the batch', hash(found.batch_root)],
      ['Leaf of the batch’s header', hash(found.header_leaf)],
    ]),
    ...steps('Up to the root of the ledger', found.ledger_path),
    facts([
      ['Root of the ledger', checkpoint === null ? 'the package includes no checkpoint' : hash(checkpoint.root)],
      [
        'Signed in',
        checkpoint === null
          ? null
          : `${printable(checkpoint.file)}, ledger of ${counted(checkpoint.size, 'batch', 'batches')}`,
      ],
      [
        'Time stamp',
        stamp === null
          ? 'no valid time stamp covers the record'
          : [`${printable(stamp.file)} by `, foreign(stamp.authority ?? 'unknown')],
      ],
    ]),
  );
}

function hash(hex: string | null): Markup {
  return hex === null ? 'unknown' : element('code', {}, printable(hex));
}

function steps(caption: string, path: readonly PathStep[] | null): Markup[] {
  if (path === null) return [element('p', { class: 'fail' }, `${caption}: no matching path.`)];
  if (path.length === 0) return [element('p', {}, `${caption}: the path is empty, because the tree has one leaf.`)];
  const rows = path.map(({ side, hash: hex }) =>
    element('tr', {}, element('th', { scope: 'row' }, side), element('td', {}, hash(hex))),
  );
  return [element('table', {}, element('caption', {}, caption), element('tbody', {}, ...rows))];
}

function checks({ checks: results }: ShownRecord): Markup {
  const head = element('tr', {}, ...['Outcome', 'Check'].map((name) => element('th', { scope: 'col' }, name)));
  const rows = results.map(({ id, outcome, messages }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, outcomeMark(outcome)),
      element(
        'td',
        {},
        CHECKS[id].meaning,
        ' ',
        element('code', { class: 'id' }, id),
        ...(outcome === 'pass' ? [] : messages.map((message) => element('p', { class: 'problem' }, foreign(message)))),
      ),
    ),
  );
  const table = element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows));
  const open = results.filter(({ outcome }) => outcome === 'fail' || outcome === 'indeterminate');
  // The proof hash is open in every package: only the tenant can check it.
  const isQuiet = open.every(({ id, outcome }) => id === 'record.proof-hash' && outcome === 'indeterminate');
  return isQuiet
    ? folded(`${counted(results.length - open.length, 'check')} of this record passed`, table)
    : section('All checks of this record', table);
}
