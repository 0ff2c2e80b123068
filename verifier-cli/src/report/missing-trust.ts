import type { Texts } from '../i18n/texts.js';
import type { ReportFacts } from './report.js';

/** Whether no given key signed any checkpoint, so that anyone could have made the ledger. */
export function isLedgerUnknown({ checks }: Pick<ReportFacts, 'checks'>): boolean {
  return checks.some(
    ({ id, outcome, counts }) => id === 'ledger.key' && outcome === 'indeterminate' && counts.pass === 0,
  );
}

/** Maximum number of authorities that the sentence names. */
const MAX_NAMED = 3;

/**
 * Names the key and root that the reader must still give, and their publishers: without them, the
 * file proves nothing. The file's own statements about ledger and authority only tell the reader
 * whom to ask.
 * @returns null if a key and a root were given, or if the package is invalid in any case
 */
export function missingTrust({ verdict, trust, package: about, stamps }: ReportFacts, { words }: Texts): string | null {
  if (verdict === 'invalid') return null;
  const authorities = [...new Set(stamps.first.flatMap(({ authority }) => authority ?? []))].slice(0, MAX_NAMED);
  const missing = [
    ...(trust.ledger_keys.length > 0 ? [] : [words.missingKey(about.origin ?? words.unknown)]),
    ...(trust.roots.length > 0 ? [] : [words.missingRoot(authorities.length === 0 ? null : authorities.join('; '))]),
  ];
  return missing.length === 0 ? null : words.missingTrust(missing);
}
