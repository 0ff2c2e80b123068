import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { consentsStream } from '../../../schemas/events/streams.js';
import { exportEvidence } from '../../../src/evidence/package/index.js';
import { ledgerSignerOf } from '../../../src/pipeline/ledger/ledger-signer.js';
import { createSealer } from '../../../src/pipeline/sealer/sealer.js';
import { count, newConsent, silent, testKeyring, whileRunning } from '../../pipeline/relay/pipeline.js';
import { UNGUARDED } from '../../support/unguarded.js';
import { until } from '../../support/wait.js';
import { type LedgerWorld, ORIGIN, openLedgerWorld } from './ledger-world.js';

let world: LedgerWorld;
beforeAll(async () => {
  world = await openLedgerWorld();
});
afterAll(() => world.close());

it('makes no package with a sealed and stamped record whose proof hash is not by the tenant’s key', async () => {
  const { pipeline, keyring, site, folder } = world;
  const { worker: pool, eventLog } = pipeline;
  await world.record(site, [{ visitorId: 'ann' }]);
  await world.seal();
  const forged = newConsent(site.siteId);
  await eventLog.append(consentsStream(site.siteId), await eventLog.lastRevision(consentsStream(site.siteId)), [
    forged,
  ]);
  // A sealer that accepts the forger's key as the tenant's.
  const signer = ledgerSignerOf(await keyring.ledgerKey(), ORIGIN, UNGUARDED);
  const limits = { maxLeaves: 8, maxAgeMs: 20 };
  const deceived = createSealer({
    db: pool,
    eventLog,
    keyring: testKeyring,
    logger: silent,
    signer,
    limits,
    pollMs: 10,
  });
  await whileRunning([deceived], () =>
    until(async () => (await count(pool, 'leaves where event_id = $1', [forged.id])) === 1),
  );
  await world.stamp();

  const output = join(folder, 'forged.zip');
  const request = { siteId: site.siteId, filter: {}, disclose: 'all', output, exportedBy: 'test' } as const;
  await expect(exportEvidence({ db: pool, eventLog, keyring, origin: ORIGIN }, request)).rejects.toMatchObject({
    problem: 'proof-hash-differs',
  });
  expect((await readdir(folder)).filter((name) => name.startsWith('forged'))).toEqual([]);
});
