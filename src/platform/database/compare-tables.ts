import * as z from 'zod';
import { identifier, identifiers, textLiteral } from './parameters.js';
import type { Queryable } from './pool.js';

/** Two relations that should have the same rows: tables, views, or queries in parentheses. */
export interface ComparedTables {
  /** The rows that the installation shows. */
  readonly live: string;
  /** The rows that it should have. */
  readonly expected: string;
  /** Columns that identify a row, in the order of an index of both. */
  readonly key: readonly string[];
  /** All other columns to compare. */
  readonly columns: readonly string[];
  /** SQL condition on the live row `live$` under which it counts as equal, regardless of the expected row. */
  readonly unless?: string;
}

const Difference = z.object({
  key: z.array(z.string()),
  /** Whether only the expected row exists, only the live one, or both with other values. */
  kind: z.enum(['missing', 'extra', 'changed']),
  /** Columns that differ, if both rows exist. */
  columns: z.array(z.string()),
});
export type RowDifference = z.infer<typeof Difference>;

/** Says in what a row differs from the one that the log gives. */
export function differenceText({ kind, columns }: RowDifference): string {
  if (kind === 'missing') return 'the row that the log gives is missing';
  return kind === 'extra' ? 'the log gives no such row' : `the log gives other values of ${columns.join(', ')}`;
}

const ComparedRows = z.tuple([
  z.object({
    /** Number of rows of either relation. Two rows with the same key count once. */
    rows: z.int(),
    differences: z.array(Difference),
  }),
]);
type ComparedRange = z.infer<typeof ComparedRows>[0];

/** Number of rows of each relation that one statement compares. */
const RANGE = 2_000;

/**
 * Compares two relations range by range in the order of the key, byte by byte as PostgreSQL stores their values
 * (`*<>`). It needs the memory of one range, regardless of the size of the relations.
 * @param ahead whether a range is compared while the next one is found: one backend of PostgreSQL uses one
 *   processor. `db` must be a pool then
 * @throws database errors
 */
export async function* compareTables(
  db: Queryable,
  tables: ComparedTables,
  { ahead = false }: { readonly ahead?: boolean } = {},
): AsyncGenerator<ComparedRange, void, undefined> {
  const types = await typesOf(db, tables);
  let earlier: Promise<ComparedRange> | null = null;
  for await (const range of rangesOf(db, tables, types)) {
    const comparing = compareRange(db, tables, types, range);
    // Its failure is thrown where it is awaited.
    comparing.catch(() => undefined);
    if (earlier !== null) yield await earlier;
    earlier = ahead ? comparing : null;
    if (!ahead) yield await comparing;
  }
  if (earlier !== null) yield await earlier;
}

/** Types of the columns of the expected rows, by name. */
type Types = ReadonlyMap<string, string>;
const TypeRows = z.tuple([z.object({ types: z.array(z.string()) })]);

async function typesOf(db: Queryable, { expected, key, columns }: ComparedTables): Promise<Types> {
  const names = [...key, ...columns];
  const { rows } = await db.query(
    `select array[${names.map((name) => `pg_typeof(r.${identifier(name)})::text`).join(', ')}] as types
       from (select) one left join ${expected} r on false`,
  );
  const [{ types }] = TypeRows.parse(rows);
  return new Map(names.map((name, place) => [name, types[place] ?? 'text']));
}

const texts = (relation: string, key: readonly string[]): string =>
  key.map((name) => `${relation}.${identifier(name)}::text`).join(', ');

/** Rows after one key, up to and including another; null stands for no bound. */
interface Range {
  readonly after: readonly string[] | null;
  readonly upTo: readonly string[] | null;
}

const KeyRows = z.array(z.object({ key: z.array(z.string()) })).max(1);

/** Ranges of at most `RANGE` rows of either relation. The last has no end. */
async function* rangesOf(
  db: Queryable,
  { live, expected, key }: ComparedTables,
  types: Types,
): AsyncGenerator<Range, void, undefined> {
  const end = (relation: string, where: string): string =>
    `(select ${identifiers(key)} from ${relation} r ${where} order by ${identifiers(key)} offset ${RANGE - 1} limit 1)`;
  for (let after: readonly string[] | null = null; ; ) {
    const { where, values } = within(key, types, { after, upTo: null });
    const { rows } = await db.query(
      `select array[${texts('r', key)}] as key from (${end(live, where)} union all ${end(expected, where)}) r
        order by ${identifiers(key)} limit 1`,
      values,
    );
    const upTo: readonly string[] | null = KeyRows.parse(rows)[0]?.key ?? null;
    yield { after, upTo };
    if (upTo === null) return;
    after = upTo;
  }
}

async function compareRange(
  db: Queryable,
  { live, expected, key, columns, unless }: ComparedTables,
  types: Types,
  range: Range,
): Promise<ComparedRange> {
  const { where, values } = within(key, types, range);
  // A live column of another type is compared by its values. The comparison of the schemas reports the type.
  const all = [...key, ...columns]
    .map((name) => `r.${identifier(name)}::${types.get(name)} as ${identifier(name)}`)
    .join(', ');
  const part = (relation: string): string => `(select ${all} from ${relation} r ${where} order by ${identifiers(key)})`;
  // No column has a name with $, so these names can only mean the rows.
  const differing = columns.map(
    (name) =>
      `case when row(live$.${identifier(name)})::record *<> row(expected$.${identifier(name)})::record then ${textLiteral(name)} end`,
  );
  const { rows } = await db.query(
    `select count(*)::int as rows,
            coalesce(json_agg(json_build_object(
              'key', case when live$ is null then array[${texts('expected$', key)}] else array[${texts('live$', key)}] end,
              'kind', case when live$ is null then 'missing' when expected$ is null then 'extra' else 'changed' end,
              'columns', case when live$ is null or expected$ is null then array[]::text[]
                              else array_remove(array[${differing.join(', ')}]::text[], null) end))
              filter (where (live$ is null or expected$ is null or live$ *<> expected$)
                ${unless === undefined ? '' : `and (live$ is null or not (${unless}))`}), '[]') as differences
       from ${part(live)} live$ full join ${part(expected)} expected$ using (${identifiers(key)})`,
    values,
  );
  return ComparedRows.parse(rows)[0];
}

/** Returns the condition for the rows of a range, and its parameters. */
function within(
  key: readonly string[],
  types: Types,
  { after, upTo }: Range,
): { readonly where: string; readonly values: string[] } {
  const values: string[] = [];
  const bound = (operator: string, place: readonly string[] | null): string[] => {
    if (place === null) return [];
    const casts = key.map((name, column) => `$${values.push(place[column] ?? '')}::text::${types.get(name)}`);
    return [`(${identifiers(key)}) ${operator} (${casts.join(', ')})`];
  };
  const conditions = [...bound('>', after), ...bound('<=', upTo)];
  return { where: conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`, values };
}
