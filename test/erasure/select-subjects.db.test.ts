import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nextApprovalTokens, nextRecords } from '../../src/erasure/select-subjects.js';
import { withTransaction } from '../../src/platform/database/pool.js';
import { type KeyRows, recordKey, sealOfKeyRow } from '../../src/platform/keys/index.js';
import { openKeyRow } from '../../src/platform/keys/key-rows.js';
import { createSiteFixture } from '../pipeline/admission/site-fixture.js';
import { type Pipeline, startPipeline } from '../pipeline/relay/pipeline.js';
import { rowsRead } from '../support/rows-read.js';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline();
});
afterAll(() => pipeline.close());

const idOf = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;

it('finds each record below an event id once, over pages of 1,000', async () => {
  const siteId = randomUUID();
  const all = Array.from({ length: 2_500 }, (_, number) => idOf(number));
  await pipeline.owner.query(
    'insert into record_keys (event_id, site_id, seed, seal) select id, $2, uuid_send(id), uuid_send(id) from unnest($1::uuid[]) id',
    [all, siteId],
  );
  const target = { kind: 'retention', belowEventId: idOf(2_400) } as const;
  // Erasing by age opens no key row.
  const keyRows = { openKeyRows: async () => [] };
  const found: string[][] = [];
  let after: string | null = null;
  do {
    const page = await nextRecords(pipeline.owner, keyRows, { siteId, target }, after);
    found.push([...page.eventIds]);
    after = page.next;
  } while (after !== null);
  expect(found.map((ids) => ids.length)).toEqual([1_000, 1_000, 400]);
  expect(found.flat()).toEqual(all.slice(0, 2_400));
});

it('leaves out a record whose key row was altered to name the person', async () => {
  const [siteId, genuine, altered] = [randomUUID(), randomUUID(), randomUUID()];
  const [siteKey, seed, value] = [randomBytes(32), randomBytes(16), randomBytes(16)];
  for (const [id, visitor] of [
    [genuine, value],
    [altered, randomBytes(16)],
  ] as const) {
    const seal = sealOfKeyRow(recordKey(siteKey, seed, id), { visitor, email: null, phone: null, id_number: null });
    await pipeline.owner.query(
      'insert into record_keys (event_id, site_id, seed, visitor_index, seal) values ($1, $2, $3, $4, $5)',
      [id, siteId, seed, value, seal],
    );
  }
  const keyRows: KeyRows = { openKeyRows: async (rows) => rows.flatMap((row) => openKeyRow(siteKey, row) ?? []) };
  const target = { kind: 'person', index: 'visitor', value } as const;
  const { eventIds } = await nextRecords(pipeline.owner, keyRows, { siteId, target }, null);
  expect(eventIds).toEqual([genuine]);
});

it('reads each row of a person and of the tokens that the records consumed once', async () => {
  const site = await createSiteFixture(pipeline.owner);
  const rows: number[] = [];
  for (const count of [2_000, 8_000]) {
    const value = randomBytes(16);
    await pipeline.owner.query(
      `insert into record_keys (event_id, site_id, seed, visitor_index, seal)
       select gen_random_uuid(), $1, $2, $2, $2 from generate_series(1, $3)`,
      [site.siteId, value, count],
    );
    await withTransaction(pipeline.owner, async (db) => {
      // The tokens need no seals.
      await db.query('set local session_replication_role = replica');
      await db.query(
        `insert into approval_tokens (id, site_id, digest, document_id, seed, identity, visitor_index, created_at, expires_at, consumed_by)
         select event_id::text, site_id, uuid_send(event_id), $2, seed, seed, visitor_index, now(), now(), event_id
           from record_keys where visitor_index = $1`,
        [value, site.formDocumentId],
      );
    });
    const request = { siteId: site.siteId, target: { kind: 'person', index: 'visitor', value } } as const;
    const keyRows: KeyRows = {
      openKeyRows: async (all) =>
        all.map((row) => ({ eventId: row.event_id, siteId: row.site_id, visitorIndex: null, key: row.seed })),
    };
    let found = 0;
    const read = await rowsRead(pipeline.worker, async (db) => {
      for (let after: string | null = null; ; ) {
        const page = await nextRecords(db, keyRows, request, after);
        found += page.eventIds.length;
        await nextApprovalTokens(db, request, page);
        if (page.next === null) break;
        after = page.next;
      }
    });
    expect(found).toBe(count);
    rows.push(read);
  }
  const [few = Number.NaN, many = Number.NaN] = rows;
  expect(few).toBeGreaterThan(0);
  expect(many).toBeLessThanOrEqual(4.1 * few);
});
