import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fixtureAuthority, LEDGER_KEY, VERIFIED_AT } from '../support/ledger-fixture.js';
import { writeScalePackage } from '../support/scale-package.js';

/** `SCALE_RECORDS=1000000 npx vitest run test/verifier/scale.test.ts` measures the real thing, in some minutes. */
const RECORDS = Number(process.env.SCALE_RECORDS ?? 12_000);
const BUNDLE = fileURLToPath(new URL('../../verifier-cli/dist/consent-verify.js', import.meta.url));
const FLOOR = fileURLToPath(new URL('../support/hashing-floor.mjs', import.meta.url));
/** Prints a line with the most memory that the process ever held, in KiB, and the time of its processor, in ms. */
const GAUGE = `data:text/javascript,${encodeURIComponent(
  `process.on('exit', () => { const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage(); process.stderr.write(JSON.stringify({ maxRSS, cpu: (userCPUTime + systemCPUTime) / 1000 })); });`,
)}`;

const authority = fixtureAuthority();
const folder = mkdtempSync(join(tmpdir(), 'consent-verify-scale-'));
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  writeFileSync(file('root.der'), authority.root.der);
  writeFileSync(file('ledger.key'), LEDGER_KEY.verifierKey);
  await writeScalePackage(file('package.zip'), authority, RECORDS);
}, 3_600_000);
afterAll(() => rmSync(folder, { recursive: true }));

function measure(script: string, ...args: readonly string[]): { stdout: string; maxRSS: number; cpu: number } {
  const result = spawnSync(process.execPath, ['--import', GAUGE, script, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const { maxRSS, cpu } = JSON.parse(result.stderr);
  return { stdout: result.stdout, maxRSS, cpu };
}

test(`${RECORDS} records are verified in bounded memory`, { timeout: 3_600_000 }, () => {
  const trust = ['--tsa-ca', file('root.der'), '--ledger-key', file('ledger.key'), '--at', VERIFIED_AT.toISOString()];
  const check = measure(BUNDLE, 'check', file('package.zip'), ...trust, '--json');
  const report: unknown = JSON.parse(check.stdout);
  expect(report).toMatchObject({ verdict: 'valid', records: { consents: RECORDS, verdicts: { valid: RECORDS } } });
  expect(check.maxRSS).toBeLessThan(400 * 1024);
  const floor = measure(FLOOR, file('package.zip'));
  expect(JSON.parse(floor.stdout).parsed).toBeGreaterThan(RECORDS);
  console.log(
    `${RECORDS} records: ${(check.cpu / 1000).toFixed(1)} s of processor time, ${Math.round(check.maxRSS / 1024)} MiB; hashing and parsing alone ${(floor.cpu / 1000).toFixed(1)} s; ratio ${(floor.cpu / check.cpu).toFixed(2)}`,
  );
});
