import { writeFile } from 'node:fs/promises';
import type { ConsistencyLine } from '../../../schemas/evidence/package-lines.js';
import type { Comparison } from '../compare/compare.js';
import {
  type ComparedSources,
  type ComparisonOptions,
  compareSources,
  NotComparable,
} from '../compare/compare-sources.js';
import { comparisonReport } from '../compare/comparison-report.js';
import { parseConsistencyFile } from '../compare/consistency.js';
import { englishText } from '../findings/finding.js';
import { asciiJson, printable } from '../rendering/printable.js';
import { readTrust, type TrustOptions } from './given-trust.js';
import { openInput, readSmallFile } from './input-files.js';
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
 * Compares two packages or checkpoint notes of one ledger, prints the result, and writes the proof if they contradict
 * each other.
 * @returns the exit code
 * @throws UsageError
 */
export async function runCompare(
  pathA: string,
  pathB: string,
  options: CompareOptions,
  { out, warn }: { readonly out: (text: string) => unknown; readonly warn: Warn },
): Promise<number> {
  const { ledgerKeys: keys, trustAnchors } = await readTrust(options, warn);
  const stamps = { trustAnchors, at: new Date() };
  const proofs: ConsistencyLine[] = [];
  for (const path of options.consistency ?? []) {
    const found = parseConsistencyFile(await readSmallFile(path));
    if (found === null) throw new UsageError(`${path} contains no consistency proof`);
    proofs.push(...found);
  }
  const { comparison, sides } = await compareFiles(pathA, pathB, { keys, stamps, proofs });
  const written = await writeProof(comparison, options.output);
  out(
    options.json === true
      ? `${asciiJson(comparisonReport({ comparison, sides }))}\n`
      : text(comparison, sides, written),
  );
  return EXIT[comparison.outcome];
}

async function compareFiles(pathA: string, pathB: string, options: ComparisonOptions): Promise<ComparedSources> {
  const a = await openInput(pathA);
  try {
    const b = await openInput(pathB);
    try {
      return await compareSources(a, b, options);
    } finally {
      await b.close();
    }
  } catch (error) {
    if (!(error instanceof NotComparable)) throw error;
    const path = error.side === 'a' ? pathA : pathB;
    throw new UsageError(
      error.reason === 'unknown'
        ? `${path} is neither an evidence package, a receipt nor a checkpoint note`
        : `${path} contains no checkpoint to compare`,
    );
  } finally {
    await a.close();
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

function text(
  { outcome, statement, entriesCompared, contradiction }: Comparison,
  sides: ComparedSources['sides'],
  written: string | null,
): string {
  const lines = [`${TITLES[outcome]}: ${printable(englishText(statement))}.`];
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
