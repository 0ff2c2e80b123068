import { writeFile } from 'node:fs/promises';
import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { type Comparison, compareHistories } from '../compare/compare.js';
import { parseConsistencyFile } from '../compare/consistency.js';
import { type History, historyOfNote, historyOfPackage } from '../compare/history.js';
import { openFileSource } from '../container/file-source.js';
import { asciiJson, printable } from '../report/printable.js';
import { readSmallFile, startOf } from './input-files.js';
import { readLedgerKeys } from './trust-files.js';
import { UsageError } from './usage-error.js';

/** Options of `consent-verify compare`, as commander gives them. */
export interface CompareOptions {
  readonly ledgerKey?: readonly string[];
  readonly consistency?: readonly string[];
  readonly output?: string;
  readonly json?: boolean;
}

const EXIT = { same: 0, extends: 0, contradiction: 1, indeterminate: 3 } as const;
const TITLES = {
  same: 'ONE HISTORY',
  extends: 'ONE HISTORY',
  contradiction: 'CONTRADICTION',
  indeterminate: 'CANNOT TELL',
} as const;

/**
 * Compares two packages or checkpoint notes of one ledger, prints what was found, and writes out the proof if they contradict each other.
 * @returns the exit code
 * @throws UsageError
 */
export async function runCompare(
  pathA: string,
  pathB: string,
  options: CompareOptions,
  out: (text: string) => unknown,
): Promise<number> {
  const keys = await readLedgerKeys(options.ledgerKey ?? []);
  const proofs = [];
  for (const path of options.consistency ?? []) {
    const found = parseConsistencyFile(await readSmallFile(path));
    if (found === null) throw new UsageError(`${path} holds no consistency proof`);
    proofs.push(...found);
  }
  const comparison = await withHistory(pathA, keys, (a) =>
    withHistory(pathB, keys, (b) => compareHistories(a, b, keys, proofs)),
  );
  const written = await writeProof(comparison, options.output);
  out(options.json === true ? jsonText(comparison) : text(comparison, written));
  return EXIT[comparison.outcome];
}

async function withHistory<T>(
  path: string,
  keys: readonly VerifierKey[],
  use: (history: History) => Promise<T>,
): Promise<T> {
  const start = await startOf(path, 2);
  if (start[0] !== 0x50 || start[1] !== 0x4b) {
    const history = await historyOfNote(await readSmallFile(path), keys);
    if (history === null) throw new UsageError(`${path} is neither a package nor a checkpoint note`);
    return await use(history);
  }
  const source = await openFileSource(path);
  try {
    const history = await historyOfPackage(source, keys);
    if (history === null) throw new UsageError(`${path} holds no checkpoint to compare`);
    return await use(history);
  } finally {
    await source.close();
  }
}

async function writeProof({ contradiction }: Comparison, path: string | undefined): Promise<string | null> {
  if (contradiction === null || path === undefined) return null;
  try {
    await writeFile(path, asciiJson(contradiction), { flag: 'wx' });
    return path;
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${error instanceof Error ? error.message : 'unknown error'}`);
  }
}

function jsonText({ outcome, statement, newer, entriesCompared, contradiction }: Comparison): string {
  const report = { format: 'consent-verify-comparison', version: 1, outcome, statement, newer };
  return `${asciiJson({ ...report, entries_compared: entriesCompared, contradiction })}\n`;
}

function text({ outcome, statement, entriesCompared, contradiction }: Comparison, written: string | null): string {
  const lines = [`${TITLES[outcome]}: ${printable(statement)}.`];
  if (entriesCompared > 0) lines.push(`${entriesCompared} places stand in both packages.`);
  if (written !== null)
    lines.push(`The proof is in ${printable(written)}: consent-verify check-contradiction verifies it.`);
  else if (contradiction !== null) lines.push('The proof was not kept: give --output FILE to have it written.');
  lines.push('Whether the records of a package are right is for consent-verify check.', '');
  return lines.join('\n');
}
