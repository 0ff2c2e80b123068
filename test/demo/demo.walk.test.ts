import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const PROGRAM = resolve('bin/consent-ledger.js');
/** A fifth of what the README shows. */
const CONSENTS = 200;

test('the demonstration of the README ends with evidence that is valid after an erasure', () => {
  const folder = mkdtempSync(join(tmpdir(), 'consent-demo-'));
  try {
    const printed = execFileSync(process.execPath, [PROGRAM, 'demo', `${CONSENTS}`], {
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
    });
    expect(printed).toContain(`accepted over HTTP ${CONSENTS} = events in the log ${CONSENTS}`);
    expect(printed).toContain(`The package contains ${CONSENTS} consents. Verdict: valid`);
    expect(printed).toMatch(/Verdict: invalid, and the report names the record/);
    expect(printed).toMatch(/Of 200 consents [1-9]\d* are marked erased\. Verdict: valid/);
    expect(existsSync(join(folder, 'demo-output', 'evidence-after-erasure.zip'))).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
