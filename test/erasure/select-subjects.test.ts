import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nextRecords } from '../../src/erasure/select-subjects.js';
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
