import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { eraseSubject, openErasureJournal, readRemains, scrubErased, statementOf } from '../../src/erasure/index.js';
import { ScrubFailed } from '../../src/erasure/scrub.js';
import { type LedgerWorld, openLedgerWorld } from '../evidence/package/ledger-world.js';

let world: LedgerWorld;
beforeAll(async () => {
  world = await openLedgerWorld();
});
afterAll(() => world.close());

const SeedRows = z.array(z.object({ seed: z.instanceof(Buffer) }));
const FileRows = z.tuple([z.object({ folder: z.string(), file: z.string() })]);

/** Reads the file of the table as from a stolen disk. @returns for each seed whether the file contains it */
async function onDisk(seeds: readonly Buffer[]): Promise<boolean[]> {
  const { owner } = world.pipeline;
  await owner.query('checkpoint');
  const { rows } = await owner.query(
    `select current_setting('data_directory') as folder, pg_relation_filepath('record_keys') as file`,
  );
  const [{ folder, file }] = FileRows.parse(rows);
  const heap = await readFile(join(folder, file));
  return seeds.map((seed) => heap.includes(seed));
}

/** Scrubs as an operator does: again, as long as a connection that just begins holds rows back. */
async function scrub(): Promise<void> {
  const attempt = () =>
    scrubErased(world.pipeline.url).then(
      () => 'done',
      (error: unknown) => String(error),
    );
  await expect.poll(attempt, { interval: 100 }).toBe('done');
}

it('removes erased data from the database’s files, once older transactions have ended', async () => {
  const { pipeline, keyring, site, folder } = world;
  const { owner, worker: pool } = pipeline;
  const ids = await world.record(site, [{ visitorId: 'ann' }, { visitorId: 'ben' }, { visitorId: 'ann' }]);
  const { rows } = await owner.query('select seed from record_keys order by array_position($1::uuid[], event_id)', [
    ids,
  ]);
  const seeds = SeedRows.parse(rows).map(({ seed }) => seed);
  const reader = await owner.connect();
  try {
    await reader.query('begin isolation level repeatable read');
    await reader.query('select 1 from sites');
    const journal = openErasureJournal(join(folder, 'erasures.ndjson'));
    await eraseSubject({ db: pool, keyring, journal }, { siteId: site.siteId, by: { kind: 'visitor', value: 'ann' } });
    expect(await onDisk(seeds)).toEqual([true, true, true]);
    await expect(scrubErased(pipeline.url)).rejects.toThrow(ScrubFailed);
    expect(await onDisk(seeds)).toEqual([true, true, true]);
  } finally {
    await reader.query('rollback');
    reader.release();
  }
  await scrub();
  expect(await onDisk(seeds)).toEqual([false, true, false]);
});

it('drops statistics of keys that a changed schema collects, and the receipt states them until then', async () => {
  const { pipeline, keyring, site, folder } = world;
  const { owner, worker: db } = pipeline;
  await world.record(site, [{ visitorId: 'cid' }, { visitorId: 'dee' }, { visitorId: 'cid' }]);
  const { rows } = await owner.query('select seed from record_keys');
  const seeds = SeedRows.parse(rows).map(({ seed }) => seed.toString('hex'));
  const sampled = async (): Promise<number> => {
    const { rows: samples } = await owner.query('select s::text as text from pg_statistic s');
    const text = JSON.stringify(samples);
    return seeds.filter((seed) => text.includes(seed)).length;
  };
  await owner.query('alter table record_keys alter column seed set statistics 100');
  await owner.query('analyze record_keys');
  expect(await sampled()).toBe(seeds.length);

  const journal = openErasureJournal(join(folder, 'erasures.ndjson'));
  const task = { siteId: site.siteId, by: { kind: 'visitor', value: 'cid' } } as const;
  const receipt = await eraseSubject({ db, keyring, journal }, task);
  const before = await readRemains(db, receipt, 30);
  expect(before.areKeysSampled).toBe(true);
  expect(statementOf(receipt, before)[0]).toContain('planner statistics');
  await scrub();
  expect(await sampled()).toBe(0);
  await owner.query('analyze record_keys');
  expect(await sampled()).toBe(0);
  const after = await readRemains(db, receipt, 30);
  expect(after.areKeysSampled).toBe(false);
  expect(statementOf(receipt, after)[0]).toContain('Neither the service nor a user of its database');
});

it('fails for a role that does not own the tables, instead of skipping them', async () => {
  const { owner } = world.pipeline;
  const url = new URL(world.pipeline.url);
  url.username = `stranger_${randomUUID().replaceAll('-', '')}`;
  url.password = 'secret';
  await owner.query(
    `create role ${url.username} login password '${url.password}'; grant consent_ledger_worker to ${url.username}`,
  );
  try {
    await expect(scrubErased(url.href)).rejects.toThrow(ScrubFailed);
  } finally {
    await owner.query(`drop role ${url.username}`);
  }
});
