import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const DEMO = resolve('dist/demo.js');

test('the demonstration of the README ends with evidence that is valid after an erasure', () => {
  const folder = mkdtempSync(join(tmpdir(), 'consent-demo-'));
  try {
    const printed = execFileSync(process.execPath, [DEMO], { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
    expect(printed).toContain('accepted over HTTP 1000 = events in the log 1000');
    expect(printed).toMatch(/The package contains 1000 consents\. Verdict: valid/);
    expect(printed).toMatch(/Verdict: invalid, and the report names the record/);
    expect(printed).toMatch(/Of 1000 consents [1-9]\d* are marked erased\. Verdict: valid/);
    expect(existsSync(join(folder, 'demo-output', 'evidence-after-erasure.zip'))).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 240_000);
