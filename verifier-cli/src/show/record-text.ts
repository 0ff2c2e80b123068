import type { JsonValue } from '../../../schemas/json/json-value.js';
import { counted } from '../../../schemas/text/counted.js';
import { authoritiesText, witnessesText } from '../report/coverage-text.js';
import { asOfText, momentText, timeText } from '../report/page-parts.js';
import { printable, printableSource } from '../report/printable.js';
import { OUTCOME_WORDS, verdictWording } from '../report/wording.js';
import { certificateOf, certificateTitle, isErasureStanding, unprovedText } from './certificate.js';
import type { PathStep, ShownRecord } from './shown-record.js';

/**
 * One record for people: its verdict, the proved times, what it says, the exact text consented to,
 * and the way of its proof.
 */
export function recordText(shown: ShownRecord): string {
  const { word, sentence } = verdictWording(shown.verdict, shown.development);
  return [
    `${word.toUpperCase()}, ${asOfText(shown.as_of)}: ${shown.consent_token ?? shown.event_id}`,
    sentence,
    ...(shown.package_verdict === shown.verdict ? [] : [`(verdict of the whole package: ${shown.package_verdict})`]),
    ...shown.warnings.map((warning) => `! ${printable(warning)}`),
    '',
    ...certificateLines(shown),
    ...timeLines(shown),
    '',
    'Record (public part)',
    ...members(shown.record),
    '',
    ...personalLines(shown),
    '',
    ...textLines(shown),
    'Proof',
    ...proofLines(shown),
    '',
    'Checks of this record',
    ...shown.checks.flatMap(({ id, outcome, messages }) => [
      `  ${OUTCOME_WORDS[outcome].mark} ${id}`,
      ...(outcome === 'pass' ? [] : messages.map((message) => `      ${printable(message)}`)),
    ]),
    '',
  ].join('\n');
}

function certificateLines(shown: ShownRecord): string[] {
  const lines = certificateOf(shown);
  if (lines === null) return [];
  return [certificateTitle(shown), ...lines.map(([name, value]) => `  ${name.padEnd(18)} ${printable(value)}`), ''];
}

function timeLines({ verdict, proved, newest, record }: ShownRecord): string[] {
  const claimed = typeof record === 'object' && record !== null && !Array.isArray(record) ? record.created_at : null;
  return [
    'Proved times (by time stamp authorities that you trust)',
    `  existed by         ${proved.before === null ? unprovedText(verdict) : timeText(proved.before)}`,
    `  sealed after       ${proved.after === null ? 'not proved' : timeText(proved.after)}`,
    `  authorities        ${authoritiesText(newest)}`,
    `  witnesses          ${witnessesText(newest)}`,
    'Claimed time (by the service)',
    `  created            ${typeof claimed === 'string' ? momentText(claimed) : 'unknown'}`,
  ];
}

function members(record: JsonValue): string[] {
  if (record === null || typeof record !== 'object' || Array.isArray(record)) return ['  unreadable'];
  return Object.entries(record)
    .filter(([name]) => name !== 'disclosures')
    .map(([name, value]) => `  ${printable(name).padEnd(22)} ${valueText(value ?? null)}`);
}

function valueText(value: JsonValue): string {
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}

function personalLines({ disclosed, withheld, erased, erasure, person, consent_token: token }: ShownRecord): string[] {
  if (token === null) return [];
  return [
    'Personal details',
    ...disclosed.map(({ name, value }) => `  ${printable(name).padEnd(22)} ${valueText(value)}`),
    ...(person === null ? [] : [`  ${'person'.padEnd(22)} record ${person.n} of the id ${person.id}`]),
    ...(withheld > 0
      ? [`  ${counted(withheld, 'value')} ${isErasureStanding({ erased, erasure }) ? 'erased' : 'withheld'}`]
      : []),
  ];
}

function textLines({ text }: ShownRecord): string[] {
  if (text === null) return [];
  const source =
    text.source === null
      ? ['(not shown: missing, changed, too long, or not UTF-8)']
      : printableSource(text.source).split('\n');
  return [
    `Text consented to: ${printable(text.title ?? 'unknown title')}, version ${text.number ?? 'unknown'}, ${printable(text.language)}`,
    `  SHA-256 ${printable(text.sha256)}: ${OUTCOME_WORDS[text.outcome].word}`,
    ...source.map((line) => `  | ${line}`),
    '',
  ];
}

function proofLines({ proof }: ShownRecord): string[] {
  const { checkpoint, stamp } = proof;
  return [
    `  entry         line ${proof.line} of entries.ndjson`,
    `  leaf          ${proof.leaf}`,
    `  in batch      ${proof.batch}, index ${proof.index} of ${proof.count ?? 'unknown'}`,
    ...pathLines(proof.batch_path),
    `  batch root    ${proof.batch_root ?? 'unknown'}`,
    `  header leaf   ${proof.header_leaf ?? 'unknown'}`,
    ...pathLines(proof.ledger_path),
    checkpoint === null
      ? '  the package includes no checkpoint'
      : `  ledger root   ${checkpoint.root} (${checkpoint.file}, ${counted(checkpoint.size, 'batch', 'batches')})`,
    stamp === null
      ? '  no valid time stamp covers the record'
      : `  time stamp    ${stamp.file} by ${printable(stamp.authority ?? 'unknown')}`,
  ];
}

function pathLines(path: readonly PathStep[] | null): string[] {
  return path === null
    ? ['    no path']
    : path.map(({ side, hash }) => `    ${side === 'left' ? 'left ' : 'right'}       ${hash}`);
}
