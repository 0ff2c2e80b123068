import { expect, test } from 'vitest';
import type { Mutation, Projection, Row } from '../../../projections/definition.js';
import { ProjectionShape } from '../../../projections/definition.js';
import { PROJECTIONS } from '../../../projections/index.js';
import { upcast } from '../../../projections/upcasters.js';
import { UnexpectedState } from '../../../src/pipeline/projector/failures.js';
import { statementsOf } from '../../../src/pipeline/projector/sql.js';

const table = {
  columns: {
    id: { type: 'integer', nullable: false },
    a: { type: 'bigint', nullable: true },
    b: { type: 'bigint', nullable: true },
  },
  primaryKey: ['id'],
  indexes: [],
} as const;
const projection: Projection = {
  name: 'example',
  version: 1,
  tables: { t: { ...table, primaryKey: ['id'], indexes: [] }, u: { ...table, primaryKey: ['id'], indexes: [] } },
  on: {},
  ignores: [],
};

const insert = (id: number, into = 't'): Mutation => ({ kind: 'insert', table: into, row: { id } });
const update = (id: number, a: number): Mutation => ({ kind: 'update', table: 't', key: { id }, set: { a } });
const add = (id: number, by: Record<string, number>): Mutation => ({ kind: 'add', table: 't', key: { id }, by });
const shape = (mutations: readonly Mutation[]) =>
  statementsOf(projection, mutations).map(({ kind, table: name, rows }) => ({ kind, table: name, rows }));

test('merges neighbouring changes of one kind into one statement, in order', () => {
  expect(shape([insert(1), insert(2), insert(3, 'u'), insert(4)])).toEqual([
    { kind: 'insert', table: 't', rows: [{ id: 1 }, { id: 2 }] },
    { kind: 'insert', table: 'u', rows: [{ id: 3 }] },
    { kind: 'insert', table: 't', rows: [{ id: 4 }] },
  ]);
});

test('keeps two updates of one row as two statements, and sums additions to one row', () => {
  expect(shape([update(1, 5), update(2, 6), update(1, 7)])).toEqual([
    {
      kind: 'update',
      table: 't',
      rows: [
        { id: 1, a: 5 },
        { id: 2, a: 6 },
      ],
    },
    { kind: 'update', table: 't', rows: [{ id: 1, a: 7 }] },
  ]);
  expect(shape([add(1, { a: 2 }), add(2, { a: 1 }), add(1, { a: 3 }), add(1, { b: 1 })])).toEqual([
    {
      kind: 'add',
      table: 't',
      rows: [
        { id: 1, a: 5 },
        { id: 2, a: 1 },
      ],
    },
    { kind: 'add', table: 't', rows: [{ id: 1, b: 1 }] },
  ]);
});

test('inserts rows with other columns by a statement of their own, and rows in another order by the same one', () => {
  const rows: readonly Row[] = [
    { id: 1, a: 1 },
    { id: 2, a: 2 },
    { a: 3, id: 3 },
    { id: 4, b: 4 },
    { id: 5, a: 5, b: 5 },
  ];
  const statements = shape(rows.map((row) => ({ kind: 'insert', table: 't', row })));
  expect(statements.map((statement) => statement.rows)).toEqual([rows.slice(0, 3), [rows[3]], [rows[4]]]);
});

test('checks every inserted row for its key and its columns', () => {
  const good: Mutation = { kind: 'insert', table: 't', row: { id: 1, a: 1 } };
  const wrong: readonly Row[] = [{ a: 1 }, { id: 2, x: 1 }];
  for (const row of wrong) expect(() => shape([good, { kind: 'insert', table: 't', row }])).toThrow(UnexpectedState);
});

test('leaves a key that is inserted twice to the database to refuse', () => {
  expect(shape([insert(1), insert(1)])[0]?.rows.length).toBe(2);
});

test.each<[string, Mutation]>([
  ['an unknown table', insert(1, 'nothing')],
  ['an unknown column', { kind: 'insert', table: 't', row: { id: 1, nothing: 1 } }],
  ['a change without a key', { kind: 'update', table: 't', key: {}, set: { a: 1 } }],
  ['a key with a wrong column', { kind: 'update', table: 't', key: { a: 1 }, set: { b: 1 } }],
])('refuses %s', (_, mutation) => {
  expect(() => statementsOf(projection, [mutation])).toThrow(UnexpectedState);
});

test('validates the service\u2019s own definitions by the schema for user definitions', () => {
  for (const one of PROJECTIONS) expect(ProjectionShape.safeParse(one).error).toBeUndefined();
  const missing = { ...PROJECTIONS[0], tables: { t: { columns: {}, primaryKey: ['id'], indexes: [] } } };
  expect(ProjectionShape.safeParse(missing).error?.message).toContain('no column id');
});

test('upcasts a body through every version in between', () => {
  const upcasters = [
    { from: 'Thing.v1', to: 'Thing.v2', upcast: (body: unknown) => ({ was: body }) },
    { from: 'Thing.v2', to: 'Thing.v3', upcast: (body: unknown) => ({ next: body }) },
  ];
  expect(upcast('Thing.v1', 1, upcasters)).toEqual({ type: 'Thing.v3', body: { next: { was: 1 } } });
  expect(upcast('Other.v1', 1, upcasters)).toEqual({ type: 'Other.v1', body: 1 });
});
