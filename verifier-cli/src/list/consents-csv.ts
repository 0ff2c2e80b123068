import { spreadsheetText } from '../../../schemas/text/spreadsheet-text.js';
import { printableSource } from '../rendering/printable.js';
import type { ListedConsent } from './listed-consent.js';

/** Columns of the CSV, in this order. Each disclosed value follows in a column of its own. */
const COLUMNS = [
  ['recorded_at', (one: ListedConsent) => one.recorded_at],
  ['existed_by', (one: ListedConsent) => one.existed_by],
  ['imported_from', (one: ListedConsent) => one.imported?.from],
  ['claimed_at', (one: ListedConsent) => one.imported?.claimed_at],
  ['consent_type', (one: ListedConsent) => one.consent_type],
  ['decision', (one: ListedConsent) => one.decision],
  ['scope', (one: ListedConsent) => one.scope],
  ['text', (one: ListedConsent) => one.text?.title],
  ['text_version', (one: ListedConsent) => one.text?.number],
  ['language', (one: ListedConsent) => one.language],
  ['erased', (one: ListedConsent) => one.erased],
  ['erasure_verdict', (one: ListedConsent) => one.erasure_verdict],
  ['verdict', (one: ListedConsent) => one.verdict],
  ['development', (_: ListedConsent, isDevelopment: boolean) => isDevelopment],
  ['superseded_by', (one: ListedConsent) => one.superseded_by?.event_id],
  ['superseded_by_verdict', (one: ListedConsent) => one.superseded_by?.verdict],
  ['event_id', (one: ListedConsent) => one.event_id],
  ['consent_token', (one: ListedConsent) => one.consent_token],
  ['document_version_id', (one: ListedConsent) => one.document_version_id],
  ['revision', (one: ListedConsent) => one.revision],
] as const;

/**
 * Writes consents as CSV (RFC 4180) in UTF-8, with a line of names.
 * @param isDevelopment whether a development authority stamped the ledger; then no record is evidence
 */
export function consentsCsv(consents: readonly ListedConsent[], isDevelopment: boolean): string {
  const names = [...new Set(consents.flatMap(({ disclosed }) => Object.keys(disclosed)))].sort();
  const head = [...COLUMNS.map(([name]) => name), ...names.map((name) => (/^\w+$/.test(name) ? name : cell(name)))];
  const rows = consents.map((one) =>
    [...COLUMNS.map(([, read]) => read(one, isDevelopment)), ...names.map((name) => one.disclosed[name])].map(cell),
  );
  return [head, ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}

/** Formats a cell. The package's author chose the text, and a spreadsheet must not evaluate it. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // A cell must not contain characters that control a terminal or reorder the text next to it.
  const safe = spreadsheetText(printableSource(text));
  return `"${safe.replaceAll('"', '""')}"`;
}
