import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { BatchHeader } from '../../../schemas/evidence/batch-header.js';
import { yearlySizes } from '../../../src/evidence/package/checkpoints-files.js';
import { exportEvidence } from '../../../src/evidence/package/index.js';
import { type LedgerWorld, ORIGIN, openLedgerWorld } from './ledger-world.js';
import { manifestOf, problemsOf, unpack, verify } from './reading-packages.js';

let world: LedgerWorld;
let ids: string[];

beforeAll(async () => {
  world = await openLedgerWorld();
  const { site, otherSite } = world;
  ids = await world.record(site, [{ visitorId: 'ann' }]);
  await world.stamp();
  for (const visitorId of ['ben', 'cem', 'dan']) {
    await world.record(otherSite, [{ visitorId }]);
    await world.stamp();
  }
});
afterAll(() => world.close());

async function exported() {
  const { pipeline, keyring, site, folder } = world;
  const { path } = await exportEvidence(
    { db: pipeline.worker, eventLog: pipeline.eventLog, keyring, origin: ORIGIN },
    {
      siteId: site.siteId,
      filter: { eventIds: ids },
      disclose: 'none',
      exportedBy: 'test',
      output: join(folder, `renewal-${Date.now()}.zip`),
    },
  );
  return { path, files: await unpack(path) };
}

it('encloses the batch of another site that names the time stamp over a record', async () => {
  const { path, files } = await exported();
  const report = await verify(world, path);
  expect(problemsOf(report)).toEqual([]);
  const headers = String(files.get('batches.ndjson'))
    .trim()
    .split('\n')
    .map((line) => BatchHeader.parse(JSON.parse(z.object({ header: z.string() }).parse(JSON.parse(line)).header)));
  const named = new Map(headers.flatMap(({ after }) => (after === null ? [] : [[after.size, after.sha256] as const])));
  const newest = manifestOf(files).checkpoint;
  const stamps = [...files].flatMap(([name, bytes]) => {
    const [, size] = /^checkpoints\/(\d+)\.1\.tsr$/.exec(name) ?? [];
    return size === undefined ? [] : [{ size: Number(size), digest: toHex(sha256(bytes)) }];
  });
  expect(stamps.length).toBeGreaterThan(1);
  for (const { size, digest } of stamps) if (size !== newest) expect(named.get(size), `${size}`).toBe(digest);
  const supporting = headers.filter(({ number }) => !files.has(`proofs/${number}.ndjson`));
  expect(report.proved.batches).toBe(headers.length - supporting.length);
});

it('encloses the last time stamp of every later year, so that no chain of renewals is broken', async () => {
  const { owner } = world.pipeline;
  const client = await owner.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query('select size from checkpoints order by size');
    const sizes = rows.map((row) => z.object({ size: z.int() }).parse(row).size);
    expect(sizes).toHaveLength(4);
    for (const [i, year] of [2026, 2026, 2028, 2029].entries())
      await client.query('update checkpoints set gen_time = $2 where size = $1', [sizes[i], `${year}-07-0${i + 1}Z`]);
    const last = sizes[3] ?? 0;
    expect(await yearlySizes(client, sizes[0] ?? 0, last)).toEqual(sizes.slice(1));
    expect(await yearlySizes(client, sizes[2] ?? 0, last)).toEqual(sizes.slice(2));
  } finally {
    await client.query('rollback');
    client.release();
  }
});
