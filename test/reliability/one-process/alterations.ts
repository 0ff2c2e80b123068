import * as z from 'zod';
import type { SimulatedServer } from './simulated-server.js';

/** A column whose newest row is altered. */
interface Alterable {
  readonly table: string;
  /** Columns of the primary key, the last row first in this order. */
  readonly key: string;
  readonly column: string;
  readonly type: string;
  /** SQL of the wrong value. */
  readonly wrong: string;
}

const FLIPPED = (column: string): string => `set_byte(${column}, 0, get_byte(${column}, 0) # 1)`;

/** Columns that the service derives from the log. */
const ALTERABLE: readonly Alterable[] = [
  {
    table: 'sealer_state',
    key: 'is_only_row',
    column: 'ledger_revision',
    type: 'bigint',
    wrong: 'ledger_revision - 1',
  },
  {
    table: 'sealer_state',
    key: 'is_only_row',
    column: 'ledger_revision',
    type: 'bigint',
    wrong: 'ledger_revision + 1',
  },
  { table: 'sealer_state', key: 'is_only_row', column: 'log_position', type: 'text', wrong: 'null' },
  {
    table: 'sealer_state',
    key: 'is_only_row',
    column: 'log_position',
    type: 'text',
    wrong: `repeat('0', 16) || '9999/' || repeat('0', 16) || '9999'`,
  },
  { table: 'sealed_streams', key: 'number', column: 'revision', type: 'bigint', wrong: 'revision - 1' },
  { table: 'sealed_streams', key: 'number', column: 'revision', type: 'bigint', wrong: 'revision + 1' },
  { table: 'sealed_streams', key: 'number', column: 'leaf', type: 'bytea', wrong: FLIPPED('leaf') },
  { table: 'batches', key: 'number', column: 'leaves', type: 'bytea', wrong: FLIPPED('leaves') },
  { table: 'batches', key: 'number', column: 'number', type: 'bigint', wrong: 'number + 1' },
  { table: 'batches', key: 'number', column: 'sealed_at', type: 'timestamptz', wrong: `sealed_at + interval '1 day'` },
  { table: 'checkpoints', key: 'size', column: 'size', type: 'bigint', wrong: 'size + 1000' },
  { table: 'checkpoints', key: 'size', column: 'size', type: 'bigint', wrong: '-size' },
  {
    table: 'checkpoint_tokens',
    key: 'size, number',
    column: 'gen_time',
    type: 'timestamptz',
    wrong: `gen_time + interval '1 day'`,
  },
  { table: 'checkpoint_tokens', key: 'size, number', column: 'size', type: 'bigint', wrong: '-size' },
  { table: 'checkpoint_tokens', key: 'size, number', column: 'tsr_sha256', type: 'text', wrong: `repeat('0', 64)` },
  { table: 'checkpoint_tokens', key: 'size, number', column: 'organization', type: 'text', wrong: `'nobody'` },
  { table: 'ledger_nodes', key: 'level, index', column: 'hash', type: 'bytea', wrong: FLIPPED('hash') },
  {
    table: 'sealed_events',
    key: 'stream, revision',
    column: 'person_tag',
    type: 'bytea',
    wrong: FLIPPED('person_tag'),
  },
  { table: 'sealed_events', key: 'stream, revision', column: 'index', type: 'integer', wrong: 'index + 1' },
  { table: 'persons', key: 'site_id, visitor_index', column: 'records', type: 'bigint', wrong: 'records + 1' },
  { table: 'persons', key: 'site_id, visitor_index', column: 'records', type: 'bigint', wrong: '0' },
];

/** A row that was altered. */
export interface Alteration {
  readonly what: string;
  readonly place: Alterable;
  /** Its primary key now, as text. */
  readonly row: string;
  readonly before: string | null;
  readonly after: string | null;
}

const Altered = z.array(z.object({ key: z.string(), before: z.string().nullable(), after: z.string().nullable() }));

/** Alters the newest row of a table that the service derives. @returns null if the table is empty */
export async function alterRow(server: SimulatedServer, choice: number): Promise<Alteration | null> {
  const place = ALTERABLE[Math.floor(choice * ALTERABLE.length)];
  if (place === undefined) return null;
  const { table, key, column, wrong } = place;
  const rows = Altered.parse(
    await server.change(
      `with old as (select ctid as place, ${column}::text as before from ${table} order by row(${key}) desc limit 1)
       update ${table} t set ${column} = ${wrong} from old where t.ctid = old.place
       returning row(${prefixed(key)})::text as key, old.before, t.${column}::text as after`,
    ),
  );
  const [row] = rows;
  if (row === undefined) return null;
  return { what: `${table}.${column} becomes ${wrong}`, place, row: row.key, before: row.before, after: row.after };
}

/** Gives a row its value back, unless the service wrote it meanwhile. */
export async function restoreRow(server: SimulatedServer, { place, row, before, after }: Alteration): Promise<void> {
  const { table, key, column, type } = place;
  await server.change(
    `update ${table} set ${column} = $1::text::${type} where row(${key})::text = $3 and ${column}::text is not distinct from $2::text`,
    [before, after, row],
  );
}

function prefixed(key: string): string {
  return key
    .split(', ')
    .map((column) => `t.${column}`)
    .join(', ');
}
