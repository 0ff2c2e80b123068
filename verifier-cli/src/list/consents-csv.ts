import type { ListedConsent } from './listed-consent.js';

/** Columns of the CSV, in this order. Each disclosed value follows in a column of its own. */
const COLUMNS = [
  ['recorded_at', (one: ListedConsent) => one.recorded_at],
  ['existed_by', (one: ListedConsent) => one.existed_by],
  ['consent_type', (one: ListedConsent) => one.consent_type],
  ['decision', (one: ListedConsent) => one.decision],
  ['text', (one: ListedConsent) => one.text?.title],
  ['text_version', (one: ListedConsent) => one.text?.number],
  ['language', (one: ListedConsent) => one.language],
  ['erased', (one: ListedConsent) => one.erased],
  ['verdict', (one: ListedConsent) => one.verdict],
  ['superseded_by', (one: ListedConsent) => one.superseded_by?.event_id],
  ['event_id', (one: ListedConsent) => one.event_id],
  ['consent_token', (one: ListedConsent) => one.consent_token],
  ['document_version_id', (one: ListedConsent) => one.document_version_id],
  ['revision', (one: ListedConsent) => one.revision],
] as const;

/** Writes consents as CSV (RFC 4180) in UTF-8, with a line of names. */
export function consentsCsv(consents: readonly ListedConsent[]): string {
  const names = [...new Set(consents.flatMap(({ disclosed }) => Object.keys(disclosed)))].sort();
  const head = [...COLUMNS.map(([name]) => name), ...names];
  const rows = consents.map((one) => [
    ...COLUMNS.map(([, read]) => read(one)),
    ...names.map((name) => one.disclosed[name]),
  ]);
  return [head, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/**
 * A cell. A text that a spreadsheet would evaluate as a formula gets an apostrophe: the package's
 * author chose it.
 */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
