import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createErasureRunner,
  eraseSubject,
  erasureReceipt,
  JournalUnavailable,
  openErasureJournal,
  recordErasureRequest,
} from '../../src/erasure/index.js';
import { type LedgerWorld, openLedgerWorld } from '../evidence/package/ledger-world.js';
import { count, silent, until, whileRunning } from '../pipeline/relay/pipeline.js';

let world: LedgerWorld;
beforeAll(async () => {
  world = await openLedgerWorld();
});
afterAll(() => world.close());

it('erases nothing while its journal cannot be written', async () => {
  const { pipeline, keyring, site, folder } = world;
  const path = join(folder, 'no-file');
  await mkdir(path);
  const ids = await world.record(site, [{ visitorId: 'ann' }]);
  const options = { db: pipeline.worker, keyring, journal: openErasureJournal(path) };
  const erasing = eraseSubject(options, { siteId: site.siteId, by: { kind: 'visitor', value: 'ann' } });
  await expect(erasing).rejects.toBeInstanceOf(JournalUnavailable);
  expect(await count(pipeline.owner, 'record_keys where event_id = any($1)', [ids])).toBe(1);
  expect(await count(pipeline.owner, `event_log.events where type = 'SubjectErased.v1'`)).toBe(0);
});

it('carries out the requests of other processes, and unfinished ones', async () => {
  const { pipeline, keyring, site, folder } = world;
  const api = pipeline.newPool('consent_ledger_api');
  const ids = await world.record(site, [{ visitorId: 'ben' }]);
  const { request } = await recordErasureRequest(api, keyring, {
    siteId: site.siteId,
    by: { kind: 'record', eventId: ids[0] ?? '' },
    channel: 's2s',
  });
  const { worker: pool, eventLog } = pipeline;
  const journal = openErasureJournal(join(folder, 'erasures.ndjson'));
  const runner = createErasureRunner({
    db: pool,
    eventLog,
    keyring,
    journal,
    logger: silent,
    pollMs: 10,
    announceIntervalMs: 1,
  });
  await whileRunning([runner], () => until(async () => (await erasureReceipt(api, request.id)) !== null));
  expect(await erasureReceipt(api, request.id)).toMatchObject({ reason: 'record', erasedRecords: 1 });
  // The erasure of the previous test, whose journal failed, is finished, too.
  expect(await count(pipeline.owner, 'record_keys where site_id = $1', [site.siteId])).toBe(0);
  expect(await count(pipeline.owner, 'erasure_requests where finished_at is null or blind_index is not null')).toBe(0);
});
