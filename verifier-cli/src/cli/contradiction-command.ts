import { decodeUtf8 } from '../../../schemas/crypto/encoding.js';
import { Contradiction } from '../../../schemas/evidence/contradiction.js';
import { RECEIPT_FORMAT } from '../../../schemas/evidence/receipt.js';
import { verifyContradiction } from '../compare/contradiction.js';
import { contradictionReport } from '../compare/contradiction-page.js';
import { parseShape } from '../files/parse.js';
import { englishText } from '../findings/finding.js';
import { asciiJson, printable } from '../rendering/printable.js';
import { type LedgerKeyOptions, readTrustedLedgerKeys } from './given-trust.js';
import { readSmallFile, startOf } from './input-files.js';
import { UsageError } from './usage-error.js';

/** Options of `consent-verify check-contradiction`, as commander gives them. */
export interface ContradictionOptions extends LedgerKeyOptions {
  readonly json?: boolean;
}

/** The first byte of a proof. A ZIP never begins with it. */
const OPENING_BRACE = 0x7b;
/** A receipt states its format within these bytes. */
const START_BYTES = 48;

const EXIT = { proved: 0, 'not-proved': 1, indeterminate: 3 } as const;
const TITLES = { proved: 'PROVED', 'not-proved': 'NOT PROVED', indeterminate: 'UNDECIDED' } as const;

/**
 * Verifies a proof that `compare` wrote.
 * @param what the expected kind of the file, for the message if it is not such a proof
 * @returns the exit code: 0 if the ledger contradicts itself
 * @throws UsageError if the file is not such a proof
 */
export async function runCheckContradiction(
  path: string,
  options: ContradictionOptions,
  out: (text: string) => unknown,
  what = 'not a contradiction proof',
): Promise<number> {
  const keys = await readTrustedLedgerKeys(options);
  const parsed = parseShape(Contradiction, await readSmallFile(path));
  if (!parsed.ok) throw new UsageError(`${path} is ${what}: ${englishText(parsed.reason)}`);
  const verdict = await verifyContradiction(parsed.value, keys, new Date());
  const { outcome, statement } = verdict;
  out(
    options.json === true
      ? `${asciiJson(contradictionReport(verdict))}\n`
      : `${TITLES[outcome]}: ${printable(statement)}.\n`,
  );
  return EXIT[outcome];
}

/**
 * Returns whether a file may be such a proof rather than a package.
 * @throws UsageError if it cannot be read
 */
export async function mayBeContradiction(path: string): Promise<boolean> {
  const start = await startOf(path, START_BYTES);
  return start[0] === OPENING_BRACE && decodeUtf8(start)?.includes(RECEIPT_FORMAT) !== true;
}
