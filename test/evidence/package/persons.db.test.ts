import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { noticesStream } from '../../../schemas/events/streams.js';
import { levelOf } from '../../../schemas/evidence/roll-ups.js';
import { eraseSubject, openErasureJournal } from '../../../src/erasure/index.js';
import { type ExportFilter, exportEvidence } from '../../../src/evidence/package/index.js';
import { catchUpLedger } from '../../../src/pipeline/ledger/apply-ledger.js';
import { sealBatch } from '../../../src/pipeline/sealer/seal.js';
import { count } from '../../pipeline/relay/pipeline.js';
import { type LedgerWorld, ORIGIN, openLedgerWorld } from './ledger-world.js';
import { entriesOf, manifestOf, problemsOf, unpack, verify } from './reading-packages.js';

let world: LedgerWorld;
let exports = 0;
let anns: string[];

beforeAll(async () => {
  world = await openLedgerWorld();
  const { site, otherSite } = world;
  anns = await world.record(site, [{ visitorId: 'ann' }]);
  await world.record(site, [{ visitorId: 'ben' }, { visitorId: 'cem' }]);
  await world.record(otherSite, [{ visitorId: 'ann' }]);
  await world.stamp();
  anns.push(...(await world.record(site, [{ visitorId: 'ann' }, { visitorId: 'ann' }])));
  await world.seal();
  await emptyBatches(130);
  await world.record(otherSite, [{ visitorId: 'dan' }]);
  anns.push(...(await world.record(site, [{ visitorId: 'ann' }])));
  await world.stamp();
});

afterAll(() => world.close());

async function emptyBatches(many: number): Promise<void> {
  const { worker, eventLog } = world.pipeline;
  let state = await catchUpLedger(worker, eventLog);
  const end = state.size + many;
  while (state.size < end) {
    ({ state } = await sealBatch(worker, eventLog, state, { leaves: [], logPosition: null }, new Date()));
  }
}

async function run(filter: ExportFilter = {}) {
  const { pipeline, keyring, site, folder } = world;
  exports += 1;
  const output = join(folder, `person-${exports}.zip`);
  const { path } = await exportEvidence(
    { db: pipeline.worker, eventLog: pipeline.eventLog, keyring, origin: ORIGIN },
    { siteId: site.siteId, filter, disclose: 'all', output, exportedBy: 'test' },
  );
  return { path, files: await unpack(path) };
}

it('contains every record of a person, also across roll-ups, and verifies', async () => {
  const { path, files } = await run({ visitorId: 'ann' });
  const report = await verify(world, path);
  expect(problemsOf(report)).toEqual([]);
  expect(report.checks.find(({ id }) => id === 'completeness.person')?.outcome).toBe('pass');
  const manifest = manifestOf(files);
  expect(manifest.filter.person).toMatchObject({ records: 4 });
  expect(manifest.checkpoint).toBeGreaterThan(130);
  const consents = entriesOf(files).filter(({ entry }) => entry.type === 'ConsentRecorded.v1');
  expect(consents.map(({ entry }) => entry.event_id)).toEqual(anns);
  expect(files.has('tags/127.ndjson')).toBe(true);
});

it('of a whole site accounts for every batch by itself or by a roll-up', async () => {
  const { path, files } = await run();
  expect(problemsOf(await verify(world, path))).toEqual([]);
  expect(files.has('tags/127.ndjson')).toBe(true);
  expect(files.has('tags/3.ndjson')).toBe(false);
  expect(manifestOf(files).complete.map(({ stream }) => stream)).toContain(noticesStream(world.site.siteId));
});

it('of a person without a record proves nothing, and states it', async () => {
  const report = await verify(world, (await run({ visitorId: 'nobody' })).path);
  expect(report.verdict).toBe('indeterminate');
  expect(problemsOf(report).join()).toContain('completeness.person: the ledger has no record of the person');
});

it('rebuilds batches, tags and roll-ups from the log alone', async () => {
  const { owner, worker, eventLog } = world.pipeline;
  const before = await owner.query('select number, header from batches order by number');
  const leaves = await owner.query('select stream, revision, batch, index, hash, person_tag from leaves order by 1, 2');
  expect(before.rows.filter(({ number }) => levelOf(Number(number)) === 1)).toHaveLength(1);
  await owner.query(
    'truncate batches, sealed_events, ledger_nodes, sealed_streams, ledger_events, checkpoints, checkpoint_tokens, ledger_keys cascade',
  );
  await owner.query('update sealer_state set ledger_revision = -1, log_position = null');
  await catchUpLedger(worker, eventLog);
  expect((await owner.query('select number, header from batches order by number')).rows).toEqual(before.rows);
  expect(
    (await owner.query('select stream, revision, batch, index, hash, person_tag from leaves order by 1, 2')).rows,
  ).toEqual(leaves.rows);
});

it('gives a person the next number even if the number was not remembered', async () => {
  const { owner } = world.pipeline;
  await owner.query('update persons set records = 0');
  anns.push(...(await world.record(world.site, [{ visitorId: 'ann' }])));
  await world.stamp();
  const { path, files } = await run({ visitorId: 'ann' });
  expect(problemsOf(await verify(world, path))).toEqual([]);
  expect(manifestOf(files).filter.person).toMatchObject({ records: 5 });
});

it('shows an erased record of a person by its tag, and forgets the person with the last record', async () => {
  const { pipeline, keyring, site, folder } = world;
  const journal = openErasureJournal(join(folder, 'erasures.ndjson'));
  const erase = { db: pipeline.worker, keyring, journal };
  await eraseSubject(erase, { siteId: site.siteId, by: { kind: 'record', eventId: anns[0] ?? '' } });
  await world.stamp();
  const { path, files } = await run({ visitorId: 'ann' });
  expect(problemsOf(await verify(world, path))).toEqual([]);
  expect(manifestOf(files)).toMatchObject({ filter: { person: { records: 5 } }, counts: { consents: 5, erased: 1 } });
  await eraseSubject(erase, { siteId: site.siteId, by: { kind: 'visitor', value: 'ann' } });
  expect(await count(pipeline.owner, `persons where site_id = $1`, [site.siteId])).toBe(2);
});
