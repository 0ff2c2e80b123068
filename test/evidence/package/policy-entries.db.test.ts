import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { POLICY_STREAM } from '../../../schemas/events/streams.js';
import { exportEvidence } from '../../../src/evidence/package/index.js';
import { ensurePolicySet } from '../../../src/pipeline/ledger/policy.js';
import { type LedgerWorld, ORIGIN, openLedgerWorld } from './ledger-world.js';
import { entriesOf, manifestOf, problemsOf, unpack, verify } from './reading-packages.js';

let world: LedgerWorld;
let first: string[];
let later: string[];

const settings = { sealWithinSeconds: 600, stampWithinSeconds: 3600 };

beforeAll(async () => {
  world = await openLedgerWorld();
  const { worker, eventLog } = world.pipeline;
  await world.record(world.otherSite, [{ visitorId: 'zoe' }]);
  await world.seal();
  first = await world.record(world.site, [{ visitorId: 'ann' }]);
  await world.stamp();
  await ensurePolicySet(worker, eventLog, settings, () => new Date());
  await world.stamp();
  await ensurePolicySet(worker, eventLog, { ...settings, stampWithinSeconds: 120 }, () => new Date());
  later = await world.record(world.site, [{ visitorId: 'ben' }]);
  await world.stamp();
});
afterAll(() => world.close());

async function exported(eventIds: readonly string[]) {
  const { pipeline, keyring, site, folder } = world;
  const { path } = await exportEvidence(
    { db: pipeline.worker, eventLog: pipeline.eventLog, keyring, origin: ORIGIN },
    {
      siteId: site.siteId,
      filter: { eventIds: [...eventIds] },
      disclose: 'none',
      exportedBy: 'test',
      output: join(folder, `policy-${eventIds[0]}.zip`),
    },
  );
  return { path, files: await unpack(path) };
}

it('includes every policy up to the checkpoint as a complete run, last in the file', async () => {
  const { path, files } = await exported(later);
  const report = await verify(world, path);
  expect(problemsOf(report)).toEqual([]);
  expect(report.policy).toEqual({ number: 2, seal_within_seconds: 600, stamp_within_seconds: 120 });
  expect(
    entriesOf(files)
      .slice(-2)
      .map(({ entry }) => [entry.stream, entry.record.number]),
  ).toEqual([
    [POLICY_STREAM, 1],
    [POLICY_STREAM, 2],
  ]);
  expect(manifestOf(files).complete.at(-1)).toEqual({ stream: POLICY_STREAM, first: 0, last: 1 });
});

it('includes batch 0 if a record’s batch names no time stamp, because there was none', async () => {
  const { path, files } = await exported(first);
  const report = await verify(world, path);
  expect(problemsOf(report)).toEqual([]);
  const headers = String(files.get('batches.ndjson')).trim().split('\n');
  expect(headers[0]).toContain('\\"number\\":0,');
});
