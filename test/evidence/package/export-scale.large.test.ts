import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatVerifierKey } from '../../../schemas/evidence/signed-note.js';
import { besideFloor, measured } from '../../support/measured-process.js';
import { recordManyConsents } from '../../support/recorded-consents.js';
import { type LedgerWorld, ORIGIN, openLedgerWorld } from './ledger-world.js';

/**
 * `SCALE_RECORDS=1000000 npx vitest run test/evidence/package/export-scale.large.test.ts` measures a
 * million records in a quarter of an hour.
 */
const RECORDS = Number(process.env.SCALE_RECORDS ?? 2_000);
const built = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const EXPORT = built('dist/export-process.js');
const BUNDLE = built('verifier-cli/dist/consent-verify.js');
const FLOOR = built('test/support/hashing-floor.mjs');
const BATCH = 5_000;

let world: LedgerWorld;
beforeAll(async () => {
  world = await openLedgerWorld();
  const { keyring, pipeline, site } = world;
  await recordManyConsents(
    pipeline.owner,
    keyring,
    { tenantId: site.tenantId, siteIds: [site.siteId], documentVersionId: site.versions.cookieEn },
    RECORDS,
  );
  await world.stamp(BATCH);
}, 3_600_000);
afterAll(() => world.close());

test(`${RECORDS} records are exported, and verified, in bounded memory`, { timeout: 3_600_000 }, () => {
  const output = join(world.folder, 'package.zip');
  const settings = {
    databaseUrl: world.pipeline.url,
    masterKey: world.master.toString('base64'),
    siteId: world.site.siteId,
    origin: ORIGIN,
    output,
  };
  const made = measured(EXPORT, JSON.stringify(settings));
  expect(JSON.parse(made.stdout)).toMatchObject({ counts: { consents: RECORDS, erased: 0, not_yet_stamped: 0 } });
  expect(existsSync(output)).toBe(true);
  expect(made.mebibytes).toBeLessThan(400);

  const keyFile = join(world.folder, 'ledger.key');
  writeFileSync(keyFile, formatVerifierKey(world.ledgerKey.name, world.ledgerKey.publicKey));
  const check = measured(BUNDLE, 'check', output, '--tsa-ca', world.tsaRootPath, '--ledger-key', keyFile, '--json');
  expect(JSON.parse(check.stdout)).toMatchObject({ verdict: 'valid', records: { verdicts: { valid: RECORDS } } });
  expect(check.mebibytes).toBeLessThan(400);

  const floor = measured(FLOOR, output);
  expect(JSON.parse(floor.stdout).parsed).toBeGreaterThan(RECORDS);
  console.log(besideFloor(`exporting ${RECORDS} records`, made, floor));
  console.log(besideFloor(`checking ${RECORDS} records`, check, floor));
});
