import type { VendorList } from '../../../schemas/iab/vendor-list.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import type { Texts } from '../i18n/texts.js';
import { printable, printableSource } from '../rendering/printable.js';
import { asOfText, momentText, timeText } from '../rendering/times-text.js';
import { findingText, loudVerdict, OUTCOME_MARKS, quietVerdict, verdictWording, wordOf } from '../rendering/wording.js';
import { authoritiesText, witnessesText } from '../report/coverage-text.js';
import { certificateOf, certificateTitle, stateOfHidden, unprovedText } from './certificate.js';
import type { PathStep, ShownRecord } from './shown-record.js';

/** Number of columns for the names of a record's members. */
const MEMBER_NAMES = 22;

/**
 * Formats one record as readable text: its verdict, the proved times, what it says, the exact text consented to, and
 * the steps of its proof.
 * @param list the vendor list that the configuration names, if it was given
 */
export function recordText(shown: ShownRecord, texts: Texts, list: VendorList | null = null): string {
  const { terminal, wholePackageShort } = texts.record;
  const wording = verdictWording(shown.verdict, shown.development, texts);
  const whole = verdictWording(shown.package_verdict, shown.development, texts);
  return [
    `${loudVerdict(wording, texts)}, ${asOfText(shown.as_of, texts)}: ${shown.consent_token ?? shown.event_id}`,
    wording.sentence,
    ...(shown.package_verdict === shown.verdict ? [] : [wholePackageShort(quietVerdict(whole, texts))]),
    ...shown.warning_findings.map((warning) => `! ${printable(findingText(warning, texts))}`),
    '',
    ...certificateLines(shown, texts, list),
    ...timeLines(shown, texts),
    '',
    terminal.public,
    ...members(shown.record, texts),
    '',
    ...personalLines(shown, texts),
    '',
    ...textLines(shown, texts),
    texts.record.proof,
    ...proofLines(shown, texts),
    '',
    terminal.checks,
    ...shown.checks.flatMap(({ id, outcome, findings }) => [
      `  ${OUTCOME_MARKS[outcome].mark} ${id}`,
      ...(outcome === 'pass' ? [] : findings.map((found) => `      ${printable(findingText(found, texts))}`)),
    ]),
    '',
  ].join('\n');
}

/** Lines of names and values. The values begin in the same column. */
function columns(lines: readonly (readonly [string, string])[], width: number): string[] {
  const widest = Math.max(width, ...lines.map(([name]) => name.length));
  return lines.map(([name, value]) => `  ${name.padEnd(widest)} ${value}`);
}

function certificateLines(shown: ShownRecord, texts: Texts, list: VendorList | null): string[] {
  const lines = certificateOf(shown, texts, list);
  if (lines === null) return [];
  const printed = lines.map(([name, value]) => [name, printable(value)] as const);
  return [certificateTitle(shown, texts), ...columns(printed, 18), ''];
}

function timeLines(shown: ShownRecord, texts: Texts): string[] {
  const { proved, newest, record } = shown;
  const { terminal } = texts.record;
  const { labels } = terminal;
  const { unknown, notProved } = texts.words;
  const claimed = typeof record === 'object' && record !== null && !Array.isArray(record) ? record.created_at : null;
  return [
    terminal.times,
    ...columns(
      [
        [labels.existedBy, proved.before === null ? unprovedText(shown, texts) : timeText(proved.before)],
        [labels.sealedAfter, proved.after === null ? notProved : timeText(proved.after)],
        [labels.authorities, authoritiesText(newest, texts)],
        [labels.witnesses, witnessesText(newest, texts)],
      ],
      18,
    ),
    terminal.claimed,
    ...columns([[labels.created, typeof claimed === 'string' ? momentText(claimed) : unknown]], 18),
  ];
}

function members(record: JsonValue, texts: Texts): string[] {
  if (record === null || typeof record !== 'object' || Array.isArray(record)) return [`  ${texts.record.unreadable}`];
  return Object.entries(record)
    .filter(([name]) => name !== 'disclosures')
    .map(([name, value]) => `  ${printable(name).padEnd(MEMBER_NAMES)} ${valueText(value ?? null)}`);
}

function valueText(value: JsonValue): string {
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}

function personalLines(shown: ShownRecord, texts: Texts): string[] {
  const { record } = texts;
  const { disclosed, withheld, person, consent_token: token, attachments } = shown;
  const { terminal } = record;
  if (token === null) return [];
  const state = stateOfHidden(shown, texts);
  const files = attachments.map(({ name, file }) => [wordOf(record.fields, name), file] as const);
  return [
    terminal.personal,
    ...disclosed.map(({ name, value }) => `  ${wordOf(record.fields, name).padEnd(MEMBER_NAMES)} ${valueText(value)}`),
    ...columns(files, MEMBER_NAMES),
    ...(person === null ? [] : columns([[terminal.person, record.personOpened(person.n, person.id)]], MEMBER_NAMES)),
    ...(withheld > 0 ? [`  ${terminal.values(withheld, state)}`] : []),
  ];
}

function textLines({ text }: ShownRecord, { record, words }: Texts): string[] {
  if (text === null) return [];
  const source = text.source === null ? [record.terminal.textNotShown] : printableSource(text.source).split('\n');
  const number = String(text.number ?? words.unknown);
  return [
    record.terminal.text(printable(text.title ?? record.unknownTitle), number, printable(text.language)),
    `  SHA-256 ${printable(text.sha256)}: ${words.outcomes[text.outcome]}`,
    ...source.map((line) => `  | ${line}`),
    '',
  ];
}

function proofLines({ proof }: ShownRecord, { record, words, evidence }: Texts): string[] {
  const { checkpoint, stamp } = proof;
  const { terminal } = record;
  const labels = terminal.proofLabels;
  const line = (name: string, value: string): string => `  ${name.padEnd(13)} ${value}`;
  return [
    line(labels.entry, record.entryLine(proof.line)),
    line(labels.leaf, proof.leaf),
    line(labels.inBatch, terminal.inBatch(proof.batch, proof.index, String(proof.count ?? words.unknown))),
    ...pathLines(proof.batch_path, record),
    line(labels.batchRoot, proof.batch_root ?? words.unknown),
    line(labels.headerLeaf, proof.header_leaf ?? words.unknown),
    ...pathLines(proof.ledger_path, record),
    checkpoint === null
      ? `  ${evidence.noCheckpoint}`
      : line(labels.ledgerRoot, terminal.ledgerRoot(checkpoint.root, checkpoint.file, checkpoint.size)),
    stamp === null
      ? `  ${record.noStamp}`
      : line(labels.timestamp, terminal.stampBy(stamp.file, printable(stamp.authority ?? words.unknown))),
  ];
}

function pathLines(path: readonly PathStep[] | null, { sides, terminal }: Texts['record']): string[] {
  return path === null
    ? [`    ${terminal.noPath}`]
    : path.map(({ side, hash }) => `    ${sides[side].padEnd(5)}       ${hash}`);
}
