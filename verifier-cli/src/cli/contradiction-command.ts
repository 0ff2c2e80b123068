import { Contradiction, verifyContradiction } from '../compare/contradiction.js';
import { parseShape } from '../files/parse.js';
import { asciiJson, printable } from '../report/printable.js';
import { readSmallFile } from './input-files.js';
import { readLedgerKeys } from './trust-files.js';
import { UsageError } from './usage-error.js';

/** Options of `consent-verify check-contradiction`, as commander gives them. */
export interface ContradictionOptions {
  readonly ledgerKey?: readonly string[];
  readonly json?: boolean;
}

const EXIT = { proved: 0, 'not-proved': 1, indeterminate: 3 } as const;
const TITLES = { proved: 'PROVED', 'not-proved': 'NOT PROVED', indeterminate: 'CANNOT TELL' } as const;

/**
 * Verifies a proof that `compare` wrote.
 * @returns the exit code: 0 if the ledger contradicts itself
 * @throws UsageError if the file is no such proof
 */
export async function runCheckContradiction(
  path: string,
  options: ContradictionOptions,
  out: (text: string) => unknown,
): Promise<number> {
  const keys = await readLedgerKeys(options.ledgerKey ?? []);
  const parsed = parseShape(Contradiction, await readSmallFile(path));
  if (!parsed.ok) throw new UsageError(`${path} is no proof of a contradiction: ${parsed.reason}`);
  const { outcome, statement } = await verifyContradiction(parsed.value, keys);
  const report = { format: 'consent-verify-contradiction', version: 1, outcome, statement };
  out(options.json === true ? `${asciiJson(report)}\n` : `${TITLES[outcome]}: ${printable(statement)}.\n`);
  return EXIT[outcome];
}
