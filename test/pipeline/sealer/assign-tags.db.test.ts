import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CONSENT_RECORDED } from '../../../schemas/events/consent-recorded.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import { personTag } from '../../../schemas/evidence/person-tag.js';
import { destroyPersonalData } from '../../../src/erasure/destroy.js';
import type { LoggedEvent } from '../../../src/pipeline/event-log/port.js';
import { TablesDiffer } from '../../../src/pipeline/ledger/errors.js';
import {
  assignTags,
  type Numbering,
  rememberNumbers,
  type SiteKeys,
} from '../../../src/pipeline/sealer/assign-tags.js';
import { withTransaction } from '../../../src/platform/database/pool.js';
import { personId, recordKey, sealOfKeyRow } from '../../../src/platform/keys/index.js';
import { openKeyRow } from '../../../src/platform/keys/key-rows.js';
import { countLocks } from '../../support/count-locks.js';
import { type Pipeline, startPipeline } from '../relay/pipeline.js';

const siteKey = randomBytes(32);
const visitorIndex = randomBytes(16);
const siteId = randomUUID();
const keyring: SiteKeys = {
  siteKeys: async () => new Map([[siteId, siteKey]]),
  openKeyRows: async (rows) => rows.flatMap((row) => openKeyRow(siteKey, row) ?? []),
};
let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline();
});
afterAll(() => pipeline.close());

/** A consent of the visitor, whose key is stored. */
async function consent(revision: number): Promise<LoggedEvent> {
  const id = randomUUID();
  const seed = randomBytes(16);
  const indexes = { visitor: visitorIndex, email: null, phone: null, id_number: null };
  await pipeline.owner.query(
    'insert into record_keys (event_id, site_id, seed, visitor_index, seal) values ($1, $2, $3, $4, $5)',
    [id, siteId, seed, visitorIndex, sealOfKeyRow(recordKey(siteKey, seed, id), indexes)],
  );
  return {
    id,
    type: CONSENT_RECORDED,
    stream: consentsStream(siteId),
    revision,
    data: new Uint8Array(),
    metadata: new Uint8Array(),
    position: String(revision),
  };
}

async function seedOf(): Promise<Uint8Array> {
  const { rows } = await pipeline.owner.query('select seed from persons where site_id = $1', [siteId]);
  return rows[0]?.seed;
}

test('a person who is erased while a batch is pending begins with 1 again under the new id', async () => {
  const numbers = new Map<string, Numbering>();
  const before = [await consent(0), await consent(1)];
  const first = await assignTags(pipeline.worker, keyring, numbers, before);
  const oldId = personId(siteKey, await seedOf(), visitorIndex);
  expect(before.map(({ id }) => first.get(id))).toEqual([personTag(oldId, 1), personTag(oldId, 2)]);
  await pipeline.owner.query('delete from record_keys where site_id = $1', [siteId]);
  await pipeline.owner.query('delete from persons where site_id = $1', [siteId]);
  const later = await consent(2);
  const second = await assignTags(pipeline.worker, keyring, numbers, [later]);
  const newId = personId(siteKey, await seedOf(), visitorIndex);
  expect(second.get(later.id)).toEqual(personTag(newId, 1));
  const further = await Promise.all([3, 4, 5, 6, 7, 8].map(consent));
  await assignTags(pipeline.worker, keyring, numbers, further);
  await rememberNumbers(pipeline.worker, numbers);
  const stored = async () =>
    (await pipeline.owner.query('select records from persons where site_id = $1', [siteId])).rows;
  expect(await stored()).toEqual([{ records: 0 }]);
  await assignTags(pipeline.worker, keyring, numbers, [await consent(9)]);
  await rememberNumbers(pipeline.worker, numbers);
  expect(await stored()).toEqual([{ records: 8 }]);
});

test('a person whose row counts a record that is not sealed gets no number', async () => {
  const next = await consent(10);
  await expect(assignTags(pipeline.worker, keyring, new Map(), [next])).rejects.toThrow(TablesDiffer);
});

test('a record whose key row was altered gets no tag', async () => {
  const [altered, other] = [await consent(11), await consent(12)];
  await pipeline.owner.query('update record_keys set visitor_index = $2 where event_id = $1', [
    altered.id,
    randomBytes(16),
  ]);
  const tags = assignTags(pipeline.worker, keyring, new Map(), [altered, other]);
  await expect(tags).rejects.toThrow(`the key row of the record ${altered.id} was altered`);
});

test('a person whose last record is erased while it gets its number leaves no row', async () => {
  const last = await consent(0);
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const held: SiteKeys = {
    ...keyring,
    openKeyRows: async (rows) => {
      await gate;
      return keyring.openKeyRows(rows);
    },
  };
  await pipeline.owner.query('delete from record_keys where event_id <> $1', [last.id]);
  await pipeline.owner.query('delete from persons');
  const assigned = assignTags(pipeline.worker, held, new Map(), [last]);
  await expect.poll(() => locks('granted')).toBe(1);
  const erased = withTransaction(pipeline.worker, (db) => destroyPersonalData(db, [last.id], []));
  await expect.poll(() => locks('not granted')).toBe(1);
  goOn();
  await Promise.all([assigned, erased]);
  expect((await pipeline.owner.query('select from persons')).rowCount).toBe(0);
});

/** Advisory locks of transactions. */
const locks = (state: 'granted' | 'not granted'): Promise<number> =>
  countLocks(pipeline.owner, `locktype = 'advisory' and ${state}`);
