import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CopiedRow, copiedRows } from '../../../src/platform/database/copied-rows.js';
import { int8Literal, textLiteral } from '../../../src/platform/database/parameters.js';
import { createPool } from '../../../src/platform/database/pool.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';

const ID = '0d7dbc0f-9a3a-4b55-bd55-0123456789ab';
/** No UTF-8, all of the bytes, nothing, and more than the client receives at once. */
const BYTES = [
  Buffer.from([0xff, 0x00, 0xc3, 0x28]),
  Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
  Buffer.alloc(0),
  randomBytes(300_000),
  randomBytes(3_000),
];

describe('copied rows', () => {
  let database: TestDatabase;
  let db: pg.Pool;

  beforeAll(async () => {
    database = await createTestDatabase();
    db = createPool({
      url: database.url,
      applicationName: 'copied rows test',
      maxConnections: 1,
      statementTimeoutMs: 10_000,
      onIdleError: () => undefined,
    });
    await db.query('create table things (n bigint primary key, id uuid not null, name text not null, data bytea)');
    for (const [n, data] of BYTES.entries())
      await db.query('insert into things values ($1, $2, $3, $4)', [n - 2, ID, `${n}: “çay” \\x41`, data]);
    await db.query('insert into things values (9007199254740991, $1, $2, null)', [ID, '']);
  });
  afterAll(async () => {
    await db.end();
    await database.drop();
  });

  const thing = (row: CopiedRow) => ({
    n: row.int8(),
    id: row.uuid(),
    name: row.text(),
    data: row.orNull((bytes) => bytes.bytea()),
  });

  it.each(['a pool', 'a connection'])('equal those of an ordinary query, on %s', async (kind) => {
    const handle = kind === 'a pool' ? db : await db.connect();
    try {
      const { rows } = await handle.query('select n, id, name, data from things where data is not null order by n');
      const copied = await copiedRows(
        handle,
        'select n, id, name, data from things where data is not null order by n',
        thing,
      );
      expect(copied).toHaveLength(BYTES.length);
      for (const [place, row] of copied.entries()) {
        expect({ n: row.n, id: row.id, name: row.name }).toEqual({
          n: rows[place].n,
          id: rows[place].id,
          name: rows[place].name,
        });
        expect(Buffer.compare(row.data ?? Buffer.from('null'), rows[place].data)).toBe(0);
      }
    } finally {
      if (handle !== db && 'release' in handle) handle.release();
    }
  });

  it('keep their bytes while later rows arrive', async () => {
    const read = (row: CopiedRow) => ({ n: row.int8(), data: row.bytea() });
    const repeated =
      'select s.n, t.data from generate_series(1::bigint, 200) as s (n), things t where t.n = 2 order by s.n';
    const rows = await copiedRows(db, repeated, read);
    expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
    for (const { data } of rows) expect(Buffer.compare(data, BYTES[4] ?? Buffer.alloc(0))).toBe(0);
  });

  it('may be none, and may be null', async () => {
    expect(await copiedRows(db, 'select n, id, name, data from things where false', thing)).toEqual([]);
    expect(await copiedRows(db, 'select n, id, name, data from things where data is null', thing)).toEqual([
      { n: Number.MAX_SAFE_INTEGER, id: ID, name: '', data: null },
    ]);
  });

  it('fail with the error of the server, and leave the connection usable', async () => {
    const client = await db.connect();
    try {
      await expect(copiedRows(client, 'select 1 / 0', thing)).rejects.toMatchObject({ code: '22012' });
      await expect(copiedRows(client, 'select n, 1 / (n - 1) from things order by n', thing)).rejects.toMatchObject({
        code: '22012',
      });
      expect((await client.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
    } finally {
      client.release();
    }
    await expect(copiedRows(db, 'select 1 / 0', thing)).rejects.toMatchObject({ code: '22012' });
    expect(await copiedRows(db, 'select 7::bigint', (row) => row.int8())).toEqual([7]);
  });

  it('fail when the connection is lost, and when the server does not answer in time', async () => {
    const hasty = createPool({
      url: database.url,
      applicationName: 'hasty test',
      maxConnections: 1,
      statementTimeoutMs: 60_000,
      onIdleError: () => undefined,
    });
    const client = await hasty.connect();
    await client.query('set statement_timeout = 100');
    await expect(copiedRows(client, 'select pg_sleep(300)', thing)).rejects.toThrow(/statement timeout/);
    await expect(
      copiedRows(client, 'select pg_terminate_backend(pg_backend_pid())::text', (row) => row.text()),
    ).rejects.toThrow();
    client.release(true);
    await hasty.end();
    await expect(copiedRows(hasty, 'select 1', thing)).rejects.toThrow(/after calling end/);
  });

  it('fail where they are not what the caller reads', async () => {
    await expect(copiedRows(db, "select 'abc'", (row) => row.int8())).rejects.toThrow('a column of a copied row has 3');
    await expect(copiedRows(db, 'select null::text', (row) => row.text())).rejects.toThrow('has -1 bytes');
    await expect(copiedRows(db, 'select 1::bigint, 2::bigint', (row) => row.int8())).rejects.toThrow('1 columns');
    await expect(copiedRows(db, 'select 1::bigint', (row) => [row.int8(), row.int8()])).rejects.toThrow('fewer');
    await expect(copiedRows(db, 'select 9007199254740992::bigint', (row) => row.int8())).rejects.toThrow(RangeError);
    await expect(copiedRows(db, 'select -9007199254740993::bigint', (row) => row.int8())).rejects.toThrow(RangeError);
  });

  it.each([0, 1, -1, 4_294_967_296, -4_294_967_297, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
    'read %i as PostgreSQL stores it',
    async (n) => {
      expect(await copiedRows(db, `select ${int8Literal(n)}`, (row) => row.int8())).toEqual([n]);
    },
  );
});

describe('literals', () => {
  let database: TestDatabase;
  let db: pg.Client;
  beforeAll(async () => {
    database = await createTestDatabase();
    db = new pg.Client({ connectionString: database.url });
    await db.connect();
  });
  afterAll(async () => {
    await db.end();
    await database.drop();
  });

  it.each(["o'clock", "\\' or true --", 'back\\slash', '', 'çay “ ”', "'; drop table x; --"])(
    'of the text %j are this text',
    async (text) => {
      const { rows } = await db.query(`select ${textLiteral(text)} as text`);
      expect(rows).toEqual([{ text }]);
    },
  );

  it('refuse other values', () => {
    expect(() => textLiteral('a\0b')).toThrow(TypeError);
    for (const n of [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(() => int8Literal(n)).toThrow(TypeError);
    }
  });
});
