import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fixtureAuthority, LEDGER_KEY, VERIFIED_AT } from '../support/ledger-fixture.js';
import { besideFloor, measured } from '../support/measured-process.js';
import { writeScalePackage } from '../support/scale-package.js';

/**
 * `SCALE_RECORDS=1000000 npx vitest run test/verifier/scale.large.test.ts` measures the real thing, in
 * some minutes.
 */
const RECORDS = Number(process.env.SCALE_RECORDS ?? 12_000);
const BUNDLE = fileURLToPath(new URL('../../verifier-cli/dist/consent-verify.js', import.meta.url));
const FLOOR = fileURLToPath(new URL('../support/hashing-floor.mjs', import.meta.url));

const authority = fixtureAuthority();
const folder = mkdtempSync(join(tmpdir(), 'consent-verify-scale-'));
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  writeFileSync(file('root.der'), authority.root.der);
  writeFileSync(file('ledger.key'), LEDGER_KEY.verifierKey);
  await writeScalePackage(file('package.zip'), authority, RECORDS);
}, 3_600_000);
afterAll(() => rmSync(folder, { recursive: true }));

test(`${RECORDS} records are verified in bounded memory`, { timeout: 3_600_000 }, () => {
  const trust = ['--tsa-ca', file('root.der'), '--ledger-key', file('ledger.key'), '--at', VERIFIED_AT.toISOString()];
  const check = measured(BUNDLE, 'check', file('package.zip'), ...trust, '--json');
  const report: unknown = JSON.parse(check.stdout);
  expect(report).toMatchObject({ verdict: 'valid', records: { consents: RECORDS, verdicts: { valid: RECORDS } } });
  expect(check.mebibytes).toBeLessThan(400);
  const floor = measured(FLOOR, file('package.zip'));
  expect(JSON.parse(floor.stdout).parsed).toBeGreaterThan(RECORDS);
  console.log(besideFloor(`checking ${RECORDS} records`, check, floor));
});
