import { createSecretKey } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keyLineOf } from '../../../schemas/evidence/signed-note.js';
import { exportEvidence } from '../../../src/evidence/package/index.js';
import { memorySource, verifyPackage } from '../../../verifier-cli/src/index.js';
import { type ApiProcess, post, startApiProcess } from '../../pipeline/admission/api-process.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { hasOpenssl } from '../../support/openssl-tsa.js';
import { hasPython, verdictOf, verifyByHand } from '../../verifier/by-hand.js';
import { type LedgerWorld, ORIGIN, openLedgerWorld } from './ledger-world.js';
import { unpack } from './reading-packages.js';

/*
 * Other languages write 17 digits of a double. Requests may have them; a package may not (docs/evidence-format.md §2),
 * so that the service seals each number with its shortest digits.
 */

let world: LedgerWorld;
let api: ApiProcess;

beforeAll(async () => {
  world = await openLedgerWorld();
  const { pipeline, master } = world;
  api = await startApiProcess(pipeline.newPool('consent_ledger_api'), pipeline.worker, createSecretKey(master));
});
afterAll(async () => {
  await api?.close();
  await world?.close();
});

const EDGES = [
  ...['0.10000000000000001', '4.9406564584124654e-324', '2.2250738585072014e-308'],
  ...['1.50e2', '-0', '0e999', '9007199254740991', '1e-7', '1.5E3', '0.30000000000000004', '123456.00'],
];
/** Doubles with 17 digits, as C and Python write them. */
const DRAWN = fc
  .sample(fc.double({ noNaN: true, noDefaultInfinity: true }), { numRuns: 400, seed: 48 })
  .filter((value) => !Number.isInteger(value) || Number.isSafeInteger(value))
  .map((value) => value.toExponential(16));

it.skipIf(!hasPython || !hasOpenssl)(
  titleNeeding(
    'Python 3.9 or openssl',
    hasPython && hasOpenssl,
    'numbers of 17 digits are read, sealed with the shortest digits, and valid for both verifiers',
  ),
  async () => {
    const { site, pipeline, keyring, folder } = world;
    const lists = [EDGES, ...Array.from({ length: 8 }, (_, i) => DRAWN.slice(i * 50, i * 50 + 50))].filter(
      ({ length }) => length > 0,
    );
    for (const list of lists) {
      const fields = `"metadata":{"numbers":[${list.join(',')}]},"extra_fields":{"first":${list[0]}}`;
      const decided = `"consent_type":"cookie","decision":"accepted","document_version_id":"${site.versions.cookieEn}"`;
      const body = `{${decided},"categories":{},"visitor_id":"v",${fields},"drawing_duration_ms":1.0000000000000001e-1}`;
      expect(await post(api, site.writeKey, '/tool/v1/consents', body)).toMatchObject({ status: 202 });
    }
    await world.stamp();
    const output = join(folder, 'numbers.zip');
    await exportEvidence(
      { db: pipeline.newPool('consent_ledger_api'), eventLog: pipeline.eventLog, keyring, origin: ORIGIN },
      { siteId: site.siteId, filter: {}, disclose: 'all', output, exportedBy: 'test' },
    );
    const texts = String((await unpack(output)).get('entries.ndjson'))
      .trim()
      .split('\n')
      .flatMap((line): string[] => JSON.parse(line).disclosures)
      .map((text) => Buffer.from(text, 'base64url').toString())
      .filter((text) => text.includes('"metadata"'));
    const written = lists.map((list) => `{"numbers":${JSON.stringify(list.map(Number))}}`);
    expect(texts.map((text) => text.slice(text.indexOf('{'), -1)).toSorted()).toEqual(written.toSorted());
    const report = await verifyPackage(memorySource(new Uint8Array(await readFile(output))), {
      trustAnchors: [world.tsaRoot],
      ledgerKeys: [world.ledgerKey],
      at: new Date(),
    });
    const wrong = report.checks.filter(({ outcome }) => outcome === 'fail');
    expect(wrong).toEqual([]);
    const key = join(folder, 'numbers.key');
    await writeFile(key, `${keyLineOf(world.ledgerKey)}\n`);
    const { stdout, stderr } = verifyByHand([output], new Date(), key, world.tsaRootPath);
    expect(stderr).toBe('');
    expect([report.verdict, verdictOf(stdout)], stdout).toEqual(['valid', 'valid']);
  },
);
