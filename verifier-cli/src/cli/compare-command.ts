import { writeFile } from 'node:fs/promises';
import { toHex } from '../../../schemas/crypto/encoding.js';
import type { ConsistencyLine } from '../../../schemas/evidence/package-lines.js';
import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { type Comparison, compareHistories } from '../compare/compare.js';
import { parseConsistencyFile } from '../compare/consistency.js';
import { type History, historyOfNote, historyOfPackage } from '../compare/history.js';
import { openFileSource } from '../container/file-source.js';
import { asciiJson, printable } from '../report/printable.js';
import type { TimestampTrust } from '../timestamps/timestamps.js';
import { isSoundKey } from '../trust/sound-keys.js';
import { readTrust, type TrustOptions } from './given-trust.js';
import { readSmallFile, startOf } from './input-files.js';
import type { Warn } from './trust-files.js';
import { UsageError } from './usage-error.js';

/** Options of `consent-verify compare`, as commander gives them. */
export interface CompareOptions extends TrustOptions {
  readonly consistency?: readonly string[];
  readonly output?: string;
  readonly json?: boolean;
}

const EXIT = { same: 0, extends: 0, contradiction: 1, indeterminate: 3 } as const;
const TITLES = {
  same: 'ONE HISTORY',
  extends: 'ONE HISTORY',
  contradiction: 'CONTRADICTION',
  indeterminate: 'UNDECIDED',
} as const;

/**
 * Compares two packages or checkpoint notes of one ledger, prints what was found, and writes out
 * the proof if they contradict each other.
 * @returns the exit code
 * @throws UsageError
 */
export async function runCompare(
  pathA: string,
  pathB: string,
  options: CompareOptions,
  { out, warn }: { readonly out: (text: string) => unknown; readonly warn: Warn },
): Promise<number> {
  const { ledgerKeys, trustAnchors } = await readTrust(options, warn);
  const stamps = { trustAnchors, at: new Date() };
  const keys = ledgerKeys.filter((key) => isSoundKey(key, stamps.at));
  const proofs: ConsistencyLine[] = [];
  for (const path of options.consistency ?? []) {
    const found = parseConsistencyFile(await readSmallFile(path));
    if (found === null) throw new UsageError(`${path} contains no consistency proof`);
    proofs.push(...found);
  }
  const { comparison, sides } = await withHistory(pathA, keys, stamps, (a) =>
    withHistory(pathB, keys, stamps, async (b) => ({
      comparison: await compareHistories(a, b, keys, proofs, stamps.at),
      sides: { a: sideOf(a), b: sideOf(b) },
    })),
  );
  const written = await writeProof(comparison, options.output);
  out(options.json === true ? jsonText(comparison, sides) : text(comparison, sides, written));
  return EXIT[comparison.outcome];
}

async function withHistory<T>(
  path: string,
  keys: readonly VerifierKey[],
  stamps: TimestampTrust,
  use: (history: History) => Promise<T>,
): Promise<T> {
  if (!(await mayBePackage(path))) {
    const history = await historyOfNote(await readSmallFile(path), keys);
    if (history === null)
      throw new UsageError(`${path} is neither an evidence package, a receipt nor a checkpoint note`);
    return await use(history);
  }
  const source = await openFileSource(path);
  try {
    const history = await historyOfPackage(source, keys, stamps);
    if (history === null) throw new UsageError(`${path} contains no checkpoint to compare`);
    return await use(history);
  } finally {
    await source.close();
  }
}

/** Whether a file begins as a package (ZIP) or a receipt (JSON): a note begins with the ledger's name. */
async function mayBePackage(path: string): Promise<boolean> {
  const [first, second] = await startOf(path, 2);
  return (first === 0x50 && second === 0x4b) || first === 0x7b;
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

interface Side {
  readonly kind: History['kind'];
  readonly origin: string;
  readonly size: number;
  readonly root: string;
  readonly stamped_at: string | null;
}

function sideOf({ kind, newest, stampedAt }: History): Side {
  return { kind, origin: newest.origin, size: newest.size, root: toHex(newest.root), stamped_at: stampedAt };
}

type Sides = Readonly<Record<'a' | 'b', Side>>;

function jsonText({ outcome, statement, newer, entriesCompared, contradiction }: Comparison, sides: Sides): string {
  const report = { format: 'consent-verify-comparison', version: 1, outcome, statement, newer, ...sides };
  return `${asciiJson({ ...report, entries_compared: entriesCompared, contradiction })}\n`;
}

function text(
  { outcome, statement, entriesCompared, contradiction }: Comparison,
  sides: Sides,
  written: string | null,
): string {
  const lines = [`${TITLES[outcome]}: ${printable(statement)}.`];
  for (const [name, { kind, size, stamped_at: time }] of Object.entries(sides)) {
    lines.push(`${name}: a ${kind} of ${size} batches${time === null ? '' : `, stamped at ${time}`}`);
  }
  if (entriesCompared > 0) lines.push(`Compared ${entriesCompared} entries that are in both files.`);
  if (written !== null)
    lines.push(`The proof is in ${printable(written)}. Verify it with consent-verify check-contradiction.`);
  else if (contradiction !== null) lines.push('The proof was not written: give --output FILE to keep it.');
  lines.push('This command does not check the records of a package: use consent-verify check.', '');
  return lines.join('\n');
}
