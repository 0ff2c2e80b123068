import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eraseSubject, openErasureJournal } from '../../../src/erasure/index.js';
import { sweepExports } from '../../../src/evidence/exports/claim.js';
import { findPackage, readPackage } from '../../../src/evidence/exports/read-package.js';
import { CHUNK_BYTES } from '../../../src/evidence/exports/run-export.js';
import { waitsAtGate } from '../../support/insert-gate.js';
import { pictureWith } from '../../support/picture.js';
import { type ExportWorld, startExportWorld } from './export-world.js';

let world: ExportWorld;
beforeAll(async () => {
  world = await startExportWorld();
  await world.record(['alice', 'bob', 'carol']);
});
afterAll(() => world.stop());

const erase = (visitor: string) => {
  const { workerPool: pool, keyring, config } = world.panel.app.service.installation;
  const journal = openErasureJournal(config.erasureJournal);
  return eraseSubject(
    { db: pool, keyring, journal },
    { siteId: world.siteId, by: { kind: 'visitor', value: visitor } },
  );
};
const rowsOf = async (sql: string, id: string) => (await world.panel.app.superuser.query(sql, [id])).rows;
const codeOf = async (answer: Response) => [answer.status, Object(await answer.json()).code];

/**
 * Reads a response to its end. @returns the received bytes, and whether it ended without an error
 */
async function taken(answer: Response): Promise<{ readonly bytes: number; readonly isWhole: boolean }> {
  let bytes = 0;
  try {
    for await (const piece of answer.body ?? []) bytes += piece.length;
    return { bytes, isWhole: true };
  } catch {
    return { bytes, isWhole: false };
  }
}

it('stops running and queued exports of the site at an erasure, and destroys finished packages', async () => {
  const finished = await world.create({ disclose: 'all', stated: { reason: 'other', name: 'Ayşe Yılmaz' } });
  await world.reaches(finished.id, 'finished');
  const ids: string[] = [];
  await world.holdPackages(async () => {
    const running = await world.create({ disclose: 'all' });
    await world.reaches(running.id, 'running');
    const queued = await world.create({ filter: { visitor_id: 'alice' } });
    ids.push(running.id, queued.id);
    await waitsAtGate(world.panel.app.superuser);
    await erase('alice');
  });
  for (const id of [...ids, finished.id]) {
    const { state, reason } = await world.read(id);
    expect([state, reason]).toEqual(['cancelled', 'erasure']);
    expect(await codeOf(await world.download(id))).toEqual([410, 'EXPORT_GONE']);
  }
  // The keys of the erased data are destroyed immediately; the sweep removes the rest.
  const { workerPool } = world.panel.app.service.installation;
  await world.reaches((await world.create()).id, 'finished');
  await sweepExports(workerPool);
  for (const id of [...ids, finished.id]) {
    expect(await rowsOf('select seed from exports where id = $1', id)).toEqual([{ seed: null }]);
    expect(await rowsOf('select from export_chunks where export_id = $1', id)).toEqual([]);
    const kept = 'select sealed_visitor, sealed_disclosures, stated from export_jobs where export_id = $1';
    expect(await rowsOf(kept, id)).toEqual([{ sealed_visitor: null, sealed_disclosures: null, stated: null }]);
  }
});

it('makes a package after the erasure that verifies as valid', async () => {
  const { id } = await world.create({ disclose: 'all' });
  expect((await world.reaches(id, 'finished')).package?.counts).toMatchObject({ consents: 3 });
  const bytes = Buffer.from(await (await world.download(id)).arrayBuffer());
  expect(world.verify(bytes).status).toBe(0);
});

it('expires a package: destroys the key, and then removes the chunks', async () => {
  const { superuser, service } = world.panel.app;
  const { id } = await world.create();
  await world.reaches(id, 'finished');
  await superuser.query(`update export_jobs set expires_at = now() - interval '1 second' where export_id = $1`, [id]);
  expect((await world.read(id)).state).toBe('expired');
  expect(await codeOf(await world.download(id))).toEqual([410, 'EXPORT_GONE']);
  await sweepExports(service.installation.workerPool);
  expect(await rowsOf('select state, seed from exports where id = $1', id)).toEqual([{ state: 'expired', seed: null }]);
  expect(await rowsOf('select from export_chunks where export_id = $1', id)).toEqual([]);
});

it('fails an export whose row cannot be read, and runs the next one', async () => {
  const { app } = world.panel;
  const ids: string[] = [];
  await world.holdPackages(async () => {
    const running = await world.create();
    await world.reaches(running.id, 'running');
    for (const change of [
      'update exports set seed = null where id = $1',
      `update export_jobs set filter = '[]' where export_id = $1`,
    ]) {
      const { id } = await world.create();
      await app.change(change, [id]);
      ids.push(id);
    }
  });
  const { id } = await world.create();
  await world.reaches(id, 'finished');
  for (const unreadable of ids) {
    expect(await rowsOf('select state, reason, seed from exports where id = $1', unreadable)).toEqual([
      { state: 'failed', reason: 'error', seed: null },
    ]);
  }
});

it('stores packages encrypted', async () => {
  const { id } = await world.create({ disclose: 'all' });
  await world.reaches(id, 'finished');
  const plain = Buffer.from(await (await world.download(id)).arrayBuffer());
  const [chunk] = await rowsOf('select ciphertext from export_chunks where export_id = $1', id);
  // Version, nonce and tag, and no byte of the ZIP's signature or names.
  expect(chunk.ciphertext.length).toBe(plain.length + 29);
  for (const word of ['PK\u0003\u0004', 'entries.ndjson', 'manifest.json']) {
    expect(plain.includes(word)).toBe(true);
    expect(chunk.ciphertext.includes(word)).toBe(false);
  }
});

it('sends no byte of an altered chunk, and never completes a truncated response', async () => {
  const { superuser } = world.panel.app;
  const { id } = await world.create({ disclose: 'all' });
  await world.reaches(id, 'finished');
  const [{ ciphertext }] = await rowsOf('select ciphertext from export_chunks where export_id = $1', id);
  const altered = Buffer.from(ciphertext);
  altered[40] = (altered[40] ?? 0) ^ 1;
  await superuser.query('update export_chunks set ciphertext = $2 where export_id = $1', [id, altered]);
  expect(await codeOf(await world.download(id))).toEqual([500, 'INTERNAL_ERROR']);

  // Equal contents would be enclosed only once.
  for (let i = 0; i < 6; i += 1) {
    await world.record([`signer-${i}`], pictureWith(randomBytes(220_000)));
  }
  const large = await world.create({ disclose: 'all' });
  const { package: made } = await world.reaches(large.id, 'finished');
  const pieces = Math.ceil((made?.bytes ?? 0) / CHUNK_BYTES);
  expect(pieces).toBeGreaterThan(1);
  const whole = await taken(await world.download(large.id));
  expect(whole).toEqual({ bytes: made?.bytes, isWhole: true });
  const { apiPool, keyring } = world.panel.app.service.installation;
  const last = pieces - 1;
  const attacks = [
    [
      'altered',
      `update export_chunks set ciphertext = set_byte(ciphertext, 50, 255 - get_byte(ciphertext, 50))
                  where export_id = $1 and index = ${last}`,
    ],
    ['cut off', `update export_jobs set chunks = ${last}, bytes = ${last * CHUNK_BYTES} where export_id = $1`],
    ['removed', `delete from export_chunks where export_id = $1 and index = ${last}`],
  ] as const;
  for (const [name, sql] of attacks) {
    try {
      await superuser.query('create table kept as select * from export_chunks where export_id = $1', [large.id]);
      await superuser.query(sql, [large.id]);
      const answer = await world.download(large.id);
      const { bytes, isWhole } = answer.status === 200 ? await taken(answer) : { bytes: 0, isWhole: false };
      expect(isWhole, name).toBe(false);
      expect(bytes, name).toBeLessThanOrEqual(last * CHUNK_BYTES);
      await superuser.query('delete from export_chunks where export_id = $1', [large.id]);
      await superuser.query('insert into export_chunks select * from kept');
      const restored = 'update export_jobs set chunks = $2, bytes = $3 where export_id = $1';
      await superuser.query(restored, [large.id, pieces, made?.bytes]);
    } finally {
      await superuser.query('drop table kept');
    }
  }

  // An erasure during the download makes the remaining chunks unreadable.
  const kept = await findPackage(apiPool, keyring, { siteId: world.siteId, exportId: large.id });
  const rest = readPackage(apiPool, kept, { first: 0, last: kept.bytes - 1 });
  expect((await rest.next()).value).toHaveLength(CHUNK_BYTES);
  await erase('signer-0');
  await expect(rest.next()).rejects.toMatchObject({ code: 'EXPORT_GONE' });
});
