import { execFileSync } from 'node:child_process';

/** The seed of this run: `TEST_SEED`, else the commit. */
export function seedOfRun(): string {
  if (process.env.TEST_SEED !== undefined) return process.env.TEST_SEED;
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    // A copy without its history.
    return 'no commit';
  }
}
