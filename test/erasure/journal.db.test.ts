import { createSecretKey } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createErasureRunner,
  eraseSubject,
  openErasureJournal,
  recordErasureRequest,
} from '../../src/erasure/index.js';
import { JournalUnavailable } from '../../src/erasure/journal.js';
import { erasureReceipt } from '../../src/erasure/read-erasures.js';
import { Looks } from '../../src/platform/background/waiting.js';
import { createKeyring } from '../../src/platform/keys/index.js';
import { type LedgerWorld, openLedgerWorld } from '../evidence/package/ledger-world.js';
import { count, silent, whileRunning } from '../pipeline/relay/pipeline.js';
import { until } from '../support/wait.js';

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
    looks: new Looks(pool, 10),
    announceIntervalMs: 1,
  });
  await whileRunning([runner], () => until(async () => (await erasureReceipt(api, request.id)) !== null));
  expect(await erasureReceipt(api, request.id)).toMatchObject({ reason: 'record', erasedRecords: 1 });
  // The erasure of the previous test, whose journal failed, is finished, too.
  expect(await count(pipeline.owner, 'record_keys where site_id = $1', [site.siteId])).toBe(0);
  expect(await count(pipeline.owner, 'erasure_requests where finished_at is null or blind_index is not null')).toBe(0);
});

it('carries out a request although an earlier one of another site cannot be', async () => {
  const { pipeline, master, site, otherSite, folder } = world;
  const api = pipeline.newPool('consent_ledger_api');
  const order = async ({ siteId }: typeof site, visitorId: string) => {
    const by = { kind: 'visitor', value: visitorId } as const;
    return (await recordErasureRequest(api, world.keyring, { siteId, by, channel: 's2s' })).request.id;
  };
  await world.record(site, [{ visitorId: 'cem' }]);
  const [stuck, next] = [await order(site, 'cem'), await order(otherSite, 'cem')];
  await pipeline.owner.query(`update keyring set wrapped = '\\x00' where purpose = 'site' and owner_id = $1`, [
    site.siteId,
  ]);
  // A process that has the key of the site in memory does not notice.
  const keyring = await createKeyring(pipeline.worker, createSecretKey(master));
  const lines: object[] = [];
  const runner = createErasureRunner({
    db: pipeline.worker,
    eventLog: pipeline.eventLog,
    keyring,
    journal: openErasureJournal(join(folder, 'erasures.ndjson')),
    logger: { ...silent, warn: (facts: object) => void lines.push(facts) },
    looks: new Looks(pipeline.worker, 10),
    announceIntervalMs: 1,
  });
  await whileRunning([runner], () => until(async () => (await erasureReceipt(api, next)) !== null));
  expect(await erasureReceipt(api, stuck)).toBeNull();
  expect(lines).toContainEqual(expect.objectContaining({ part: 'erasure', request: stuck }));
});
