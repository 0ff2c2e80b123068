import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The verifier in Python. */
export const SCRIPT = fileURLToPath(new URL('../../verifier-cli/by-hand/verify.py', import.meta.url));
export const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;

export type Verdict = 'valid' | 'invalid' | 'indeterminate';

function argumentsFor(
  files: readonly string[],
  at: Date,
  key: string,
  root: string,
  more: readonly string[],
): string[] {
  return [SCRIPT, ...files, '--all', '--at', at.toISOString(), '--ledger-key', key, '--tsa-ca', root, ...more];
}

/**
 * Runs the verifier on whole packages or receipts.
 * @param at time of verification
 * @param key file with the ledger's key
 * @param root file with the root of the time stamp authority
 */
export function verifyByHand(
  files: readonly string[],
  at: Date,
  key: string,
  root: string,
  more: readonly string[] = [],
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync('python3', argumentsFor(files, at, key, root, more), { encoding: 'utf8', maxBuffer: 1 << 28 });
}

/** Like `verifyByHand`, beside other work. @returns what it prints @throws Error with what it prints as errors */
export function startVerifyingByHand(files: readonly string[], at: Date, key: string, root: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('python3', argumentsFor(files, at, key, root, []), { maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
      if (stderr !== '') reject(new Error(stderr, { cause: error }));
      else resolve(stdout);
    });
  });
}

/** The verdict on each file of several, from what the script prints. */
export function verdictsOf(printed: string): readonly (Verdict | 'no verdict')[] {
  return printed
    .split(/^== .*$/m)
    .slice(1)
    .map(verdictOf);
}

/** What the script says of one file. */
export interface ScriptResult {
  readonly verdict: Verdict | 'no package' | 'no verdict';
  /** The first failed one; null: none failed. */
  readonly check: string | null;
  readonly text: string;
}

/** The verdict on each file, with the check that failed, from what the script prints. @param files at least one */
export function resultsOf(printed: string, files: readonly string[]): readonly ScriptResult[] {
  const parts = files.length === 1 ? [printed] : printed.split(/^== .*$/m).slice(1);
  return parts.map((part) => ({
    verdict: /^NO VERDICT: /m.test(part) ? 'no package' : verdictOf(part),
    check: /^NOT CONFIRMED: ([a-z]+(?:\.[a-z-]+)?): /m.exec(part)?.[1] ?? null,
    text: /^(?:NOT CONFIRMED|OPEN|NO VERDICT): .*/m.exec(part)?.[0] ?? '',
  }));
}

/** The verdict on one file, from what the script prints about it. */
export function verdictOf(printed: string): Verdict | 'no verdict' {
  if (/^NOT CONFIRMED: /m.test(printed)) return 'invalid';
  if (/^OPEN: /m.test(printed)) return 'indeterminate';
  return /^CONFIRMED$/m.test(printed) ? 'valid' : 'no verdict';
}
