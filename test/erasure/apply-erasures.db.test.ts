import { appendFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PublicEventBody } from '../../schemas/events/notices.js';
import { parseBody, parseRecord } from '../../schemas/events/sealed-event.js';
import { SUBJECT_ERASED } from '../../schemas/events/subject-erased.js';
import { announceErasures } from '../../src/erasure/announce-erasures.js';
import { applyErasures, eraseSubject, openErasureJournal } from '../../src/erasure/index.js';
import type { StreamEvent } from '../../src/pipeline/event-log/port.js';
import { type LedgerWorld, openLedgerWorld } from '../evidence/package/ledger-world.js';
import { count } from '../pipeline/relay/pipeline.js';

let world: LedgerWorld;
let folder: string;
let path: string;
beforeEach(async () => {
  world = await openLedgerWorld();
  folder = await mkdtemp(join(tmpdir(), 'erasure-test-'));
  path = join(folder, 'erasures.ndjson');
});
afterEach(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

const TABLES = [
  ...['record_keys', 'attachments', 'approval_tokens', 'exports', 'test_records', 'test_approval_tokens'],
  ...['erasure_events', 'erased_records', 'erasure_requests', 'erasure_progress'],
].map((name) => ({ schema: 'public', name }));
const LOG_TABLES = ['streams', 'events', 'waiting', 'runs'].map((name) => ({ schema: 'event_log', name }));

async function backUp(db: pg.Pool): Promise<void> {
  await db.query('create schema backup');
  for (const { schema, name } of [...TABLES, ...LOG_TABLES])
    await db.query(`create table backup.${name} as table ${schema}.${name}`);
}

/**
 * Restores the backup's rows, as a restore of the whole database would. The event log is external,
 * or restored with it.
 */
async function restore(db: pg.Pool, withLog: boolean): Promise<void> {
  const tables = withLog ? [...TABLES, ...LOG_TABLES] : TABLES;
  await db.query(`alter table event_log.events disable trigger user; alter table event_log.runs disable trigger user`);
  await db.query(`truncate ${tables.map(({ schema, name }) => `${schema}.${name}`).join(', ')} cascade`);
  for (const { schema, name } of tables) {
    const { rows } = await db.query<{ name: string }>(
      `select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and attgenerated = ''`,
      [`${schema}.${name}`],
    );
    const columns = rows.map((row) => row.name).join(', ');
    await db.query(
      `insert into ${schema}.${name} (${columns}) overriding system value select ${columns} from backup.${name}`,
    );
  }
  await db.query(`alter table event_log.events enable always trigger append_only;
    alter table event_log.events enable always trigger kept_in_log;
    alter table event_log.runs enable always trigger append_only`);
}

async function eraseAfterBackup(): Promise<{ ids: string[] }> {
  const { pipeline, keyring, site } = world;
  const ids = await world.record(site, [{ visitorId: 'ann', signature: Buffer.from('drawn') }, { visitorId: 'ann' }]);
  await world.relay();
  await backUp(pipeline.owner);
  await eraseSubject(
    { db: pipeline.worker, keyring, journal: openErasureJournal(path) },
    { siteId: site.siteId, by: { kind: 'visitor', value: 'ann' } },
  );
  return { ids };
}

/** The records that the announcements among these events name. */
function namedBy(events: readonly StreamEvent[]): string[] {
  return events
    .filter(({ type }) => type === SUBJECT_ERASED)
    .map(({ data }) => parseRecord(SUBJECT_ERASED, parseBody(PublicEventBody, SUBJECT_ERASED, data).record))
    .map((record) => record.erased_event_id);
}

function apply() {
  const { worker: pool, eventLog } = world.pipeline;
  return applyErasures({ db: pool, eventLog, journal: openErasureJournal(path) });
}

async function keysLeft(ids: readonly string[]): Promise<number[]> {
  const { owner } = world.pipeline;
  return [
    await count(owner, 'record_keys where event_id = any($1)', [ids]),
    await count(owner, 'attachments where event_id = any($1)', [ids]),
  ];
}

it('erases restored records again that the log lists', async () => {
  const { ids } = await eraseAfterBackup();
  await world.relay();
  await restore(world.pipeline.owner, false);
  // The journal was lost, too.
  await rm(path);
  expect(await keysLeft(ids)).toEqual([2, 1]);
  expect(await apply()).toEqual({ fromLog: 2, fromJournal: 0, skippedLines: 0 });
  expect(await keysLeft(ids)).toEqual([0, 0]);
  const { owner } = world.pipeline;
  expect(await count(owner, 'erased_records where erasure_event_id is not null')).toBe(2);
  expect(await apply()).toEqual({ fromLog: 0, fromJournal: 0, skippedLines: 0 });
  // The log has the announcements: none is queued again.
  expect(await announceErasures({ db: world.pipeline.worker })).toBe(0);
});

it('erases records again that the journal lists, and announces them once, if the log was restored, too', async () => {
  const { ids } = await eraseAfterBackup();
  await world.relay();
  const { owner, eventLog } = world.pipeline;
  await restore(owner, true);
  expect(await keysLeft(ids)).toEqual([2, 1]);
  expect(await apply()).toEqual({ fromLog: 0, fromJournal: 1, skippedLines: 0 });
  expect(await keysLeft(ids)).toEqual([0, 0]);
  expect(await count(owner, 'erased_records where erasure_event_id is null')).toBe(2);
  await world.relay();
  const stream = await eventLog.readStream(`consents-${world.site.siteId}`, 0, 100);
  expect(stream.slice(0, 2).map((event) => event.id)).toEqual(ids);
  expect(namedBy(stream).sort()).toEqual([...ids].sort());
  expect(await apply()).toEqual({ fromLog: 0, fromJournal: 0, skippedLines: 0 });
});

it('deletes restored unused tokens of both kinds and test records, although no event names them', async () => {
  const { pipeline, keyring, site } = world;
  const { blindIndex } = await import('../../src/platform/keys/index.js');
  const index = blindIndex(await keyring.siteKey(site.siteId), 'phone', '+90 555 000 00 00');
  for (const table of ['approval_tokens', 'test_approval_tokens'])
    await pipeline.owner.query(
      `insert into ${table} (id, site_id, digest, document_id, seed, identity, phone_index, created_at, expires_at)
       values ('atk_restored', $1, '\\x00', $2, '\\x00', '\\x00', $3, now(), now()),
         ('ptk_restored', $1, '\\x01', null, '\\x00', '\\x00', $3, now(), now())`,
      [site.siteId, site.formDocumentId, index],
    );
  await pipeline.owner.query(
    `insert into test_records (event_id, site_id, body, proof_hash, phone_index) values (gen_random_uuid(), $1, '', '', $2)`,
    [site.siteId, index],
  );
  await backUp(pipeline.owner);
  const journal = openErasureJournal(path);
  await eraseSubject(
    { db: pipeline.worker, keyring, journal },
    { siteId: site.siteId, by: { kind: 'phone', value: '00905550000000' } },
  );
  await restore(pipeline.owner, false);
  expect(await apply()).toMatchObject({ fromJournal: 1 });
  for (const table of ['approval_tokens', 'test_approval_tokens', 'test_records'])
    expect(await count(pipeline.owner, table)).toBe(0);
});

it('reads a journal that was truncated within a line, shortened, or replaced', async () => {
  const { ids } = await eraseAfterBackup();
  // The transaction of the truncated line was never committed; the next line must not be lost with
  // it.
  await appendFile(path, '{"v":1,"subject_erased":{"v":1,"eve');
  expect(await apply()).toEqual({ fromLog: 0, fromJournal: 0, skippedLines: 0 });
  const { pipeline, keyring, site } = world;
  await world.record(site, [{ visitorId: 'ben' }]);
  const erase = (value: string) =>
    eraseSubject(
      { db: pipeline.worker, keyring, journal: openErasureJournal(path) },
      { siteId: site.siteId, by: { kind: 'visitor', value } },
    );
  await erase('ben');
  expect(await apply()).toEqual({ fromLog: 0, fromJournal: 0, skippedLines: 1 });
  await restore(pipeline.owner, true);
  // Ben's record was lost in the restore.
  expect(await apply()).toEqual({ fromLog: 0, fromJournal: 1, skippedLines: 1 });
  expect(await keysLeft(ids)).toEqual([0, 0]);

  await truncate(path, 10);
  expect(await apply()).toEqual({ fromLog: 0, fromJournal: 0, skippedLines: 0 });
  await writeFile(path, '');
  await world.record(site, [{ visitorId: 'cem' }]);
  await erase('cem');
  // An offset beyond the file, and one within a line of another journal of the same length.
  for (const offset of [1_000_000, 1]) {
    await pipeline.owner.query('update erasure_progress set journal_offset = $1', [offset]);
    expect(await apply()).toEqual({ fromLog: 0, fromJournal: 0, skippedLines: 0 });
  }
});

it('does not announce records that a restore has lost, and the read model continues', async () => {
  const { pipeline, keyring, site } = world;
  const erase = (value: string) =>
    eraseSubject(
      { db: pipeline.worker, keyring, journal: openErasureJournal(path) },
      { siteId: site.siteId, by: { kind: 'visitor', value } },
    );
  const [before = ''] = await world.record(site, [{ visitorId: 'ann' }]);
  await world.relay();
  await backUp(pipeline.owner);
  await world.record(site, [{ visitorId: 'ann' }, { visitorId: 'ben' }]);
  await world.relay();
  await erase('ann');
  await erase('ben');
  await world.relay();
  await restore(pipeline.owner, true);
  expect(await apply()).toEqual({ fromLog: 0, fromJournal: 1, skippedLines: 0 });
  await world.relay();
  const stream = await pipeline.eventLog.readStream(`consents-${site.siteId}`, 0, 100);
  expect(stream).toHaveLength(2);
  expect(namedBy(stream)).toEqual([before]);
  expect(await count(pipeline.owner, 'erased_records')).toBe(1);
  await pipeline.owner.query('update erasure_progress set journal_offset = 0');
  expect(await apply()).toEqual({ fromLog: 0, fromJournal: 0, skippedLines: 0 });
});

it('announces an erased record that the log has, although the restored database does not know it', async () => {
  const { pipeline, keyring, site } = world;
  await backUp(pipeline.owner);
  const [id = ''] = await world.record(site, [{ visitorId: 'ann' }]);
  await world.relay();
  // Restored before its `SubjectErased` reached the log.
  await eraseSubject(
    { db: pipeline.worker, keyring, journal: openErasureJournal(path) },
    { siteId: site.siteId, by: { kind: 'visitor', value: 'ann' } },
  );
  await restore(pipeline.owner, false);
  expect(await apply()).toEqual({ fromLog: 0, fromJournal: 1, skippedLines: 0 });
  expect(await count(pipeline.owner, 'erased_records where event_id = $1', [id])).toBe(1);
});
