import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nextRecords } from '../../src/erasure/select-subjects.js';
import { type KeyRows, recordKey, sealOfKeyRow } from '../../src/platform/keys/index.js';
import { openKeyRow } from '../../src/platform/keys/key-row.js';
import { type Pipeline, startPipeline } from '../pipeline/relay/pipeline.js';

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
