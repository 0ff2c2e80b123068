import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FieldWriter, recordArray, uuidBytes } from '../../../src/pipeline/admission/binary-records.js';
import { type AdmissionDatabase, openAdmissionDatabase } from './database.js';

let database: AdmissionDatabase;
beforeAll(async () => {
  database = await openAdmissionDatabase();
});
afterAll(() => database?.close());

interface Item {
  readonly place: number;
  readonly id: string;
  readonly token: string | null;
  readonly at: number | null;
}

/** Writes an admission_item with some of its fields. */
function writeItem(fields: FieldWriter, { place, id, token, at }: Item): void {
  fields.int4(place);
  fields.int4(-place);
  fields.uuid(uuidBytes(id));
  fields.label(Buffer.from('whole'));
  fields.bytea(Buffer.from([0, 255]));
  fields.bytea(null);
  fields.uuid(null);
  fields.bytea(Buffer.alloc(0));
  fields.bytea(null);
  fields.timestamptz(at);
  fields.timestamptz(null);
  for (let column = 0; column < 6; column += 1) fields.bytea(null);
  fields.text(token);
}

const items: Item[] = [
  { place: 1, id: randomUUID(), token: 'çay', at: 0 },
  { place: 2, id: randomUUID(), token: null, at: null },
  { place: 3, id: randomUUID(), token: '', at: Date.parse('2026-11-22T06:38:02.123Z') },
];

it.each([1, 10_000])(
  'is read by PostgreSQL as it was written, with an initial estimate of %i bytes',
  async (elementBytes) => {
    const { rows } = await database.owner.query(
      `select i.request, i.tenant, i.site_id, i.refusal::text, i.idempotency, i.body_digest, i.event_id, i.proof_hash,
            i.created_at, i.id_number_index is null as nulls, i.token
       from unnest($1::admission_item[]) i`,
      [recordArray(items, 18, writeItem, elementBytes)],
    );
    expect(rows).toEqual(
      items.map(({ place, id, token, at }) => ({
        request: place,
        tenant: -place,
        site_id: id,
        refusal: 'whole',
        idempotency: Buffer.from([0, 255]),
        body_digest: null,
        event_id: null,
        proof_hash: Buffer.alloc(0),
        created_at: at === null ? null : new Date(at),
        nulls: true,
        token,
      })),
    );
  },
);

it('writes an array without elements and bigints beyond 32 bits', async () => {
  const empty = recordArray<Item>([], 17, writeItem, 100);
  const { rows } = await database.owner.query('select cardinality($1::admission_item[]) as count', [empty]);
  expect(rows).toEqual([{ count: 0 }]);
  const sites = [Number.MAX_SAFE_INTEGER, -1, 4_294_967_296];
  const written = recordArray(
    sites,
    2,
    (fields, value) => {
      fields.uuid(null);
      fields.int8(value);
    },
    40,
  );
  const read = await database.owner.query(
    'select config_revision::text as revision from unnest($1::admission_site[])',
    [written],
  );
  expect(read.rows).toEqual(sites.map((value) => ({ revision: String(value) })));
});
