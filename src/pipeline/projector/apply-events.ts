import pg from 'pg';
import * as z from 'zod';
import type { Handler, Mutation, Projection, ProjectionEvent } from '../../../projections/definition.js';
import { EVENT_TYPES } from '../../../projections/event-types.js';
import { newestType, UPCASTERS, upcast } from '../../../projections/upcasters.js';
import { decodeUtf8 } from '../../../schemas/crypto/encoding.js';
import { ConsentRecordedBody } from '../../../schemas/events/consent-recorded.js';
import { consentOf, isConsentType, SEALED_RECORD_SCHEMAS } from '../../../schemas/events/sealed-event.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { isForeign } from '../event-log/event-checks.js';
import type { LoggedEvent, Position, StreamEvent } from '../event-log/port.js';
import { failureAt, isRefusedByData, UnexpectedState } from './failures.js';
import { columnType, columnValues, schemaOf, statementSql, statementsOf } from './sql.js';

/** Events and their changes, computed before the transaction. */
export interface PreparedPage {
  readonly events: readonly LoggedEvent[];
  readonly mutations: readonly (readonly Mutation[])[];
  /** Position of a read model after all of these events. */
  readonly position: Position;
  /** Reason why the event after these cannot be applied, or null if there is none. */
  readonly failure: Error | null;
}

/** The generation is no longer at the position before these events, or no longer the live one. */
export class GenerationMoved extends Error {
  override readonly name = 'GenerationMoved';
}

/** A rebuild temporarily holds the live generation at its position. */
export class GenerationHeld extends Error {
  override readonly name = 'GenerationHeld';
}

export interface Target {
  readonly db: Queryable;
  readonly projection: Projection;
  readonly generation: number;
  /**
   * Whether the target must be the live generation, under the lock that a rebuild uses to hold it.
   */
  readonly isLive: boolean;
}

/** Computes the changes of a page of the log, up to the first event that fails. A foreign event changes nothing. */
export function preparePage(
  projection: Projection,
  from: Position | null,
  events: readonly LoggedEvent[],
  end: Position,
): PreparedPage {
  const mutations: (readonly Mutation[])[] = [];
  for (const event of events) {
    try {
      mutations.push(mutationsOf(projection, event));
    } catch (error) {
      // The sealer quarantines the site. The read models of other sites continue.
      if (isForeign(event)) {
        mutations.push([]);
        continue;
      }
      const good = events.slice(0, mutations.length);
      const position = good.at(-1)?.position ?? from ?? '';
      return { events: good, mutations, position, failure: failureAt(projection.name, event, error) };
    }
  }
  return { events, mutations, position: end, failure: null };
}

/**
 * Applies a page: read model and position change in one transaction. If the database refuses the
 * page, the events are applied one by one up to the refused one.
 * @param from the position that the generation must have
 * @param onSent called whenever rows were sent and the database is working on them
 * @throws ProjectionFailure after all events before the failing one were applied
 * @throws GenerationMoved, GenerationHeld, database errors
 */
export async function applyPage(
  target: Target,
  from: Position | null,
  page: PreparedPage,
  onSent: () => void = () => undefined,
): Promise<void> {
  if (page.events.length > 0) {
    try {
      await applyTogether(target, from, page.events.length, page.mutations.flat(), page.position, onSent);
    } catch (error) {
      if (!isRefusedByData(error)) throw error;
      await applyOneByOne(target, from, page);
    }
  }
  if (page.failure !== null) throw page.failure;
}

async function applyOneByOne(target: Target, from: Position | null, page: PreparedPage): Promise<void> {
  let position = from;
  for (const [place, event] of page.events.entries()) {
    try {
      await applyTogether(target, position, 1, page.mutations[place] ?? [], event.position);
    } catch (error) {
      if (!isRefusedByData(error)) throw error;
      throw await explained(target, event, page.mutations[place] ?? [], error);
    }
    position = event.position;
  }
}

async function explained(
  { db, projection }: Target,
  event: LoggedEvent,
  mutations: readonly Mutation[],
  error: unknown,
): Promise<Error> {
  const place = error instanceof UnexpectedState ? null : await refusedColumn(db, projection, mutations);
  return failureAt(projection.name, event, error, place);
}

async function applyTogether(
  target: Target,
  from: Position | null,
  count: number,
  mutations: readonly Mutation[],
  to: Position,
  onSent: () => void = () => undefined,
): Promise<void> {
  const { db, projection, generation, isLive } = target;
  const statements = statementsOf(projection, mutations);
  const work = async (db: Queryable): Promise<void> => {
    if (isLive) await assertLive(db, projection.name, generation);
    const moved = await db.query(
      `update projection_generations set position = $4, events = events + $5
        where name = $1 and generation = $2 and position is not distinct from $3`,
      [projection.name, generation, from, to, count],
    );
    if (moved.rowCount !== 1) throw new GenerationMoved(`generation ${generation} of ${projection.name} has moved`);
    for (const statement of statements) {
      const changing = db.query(statementSql(projection, schemaOf(projection.name, generation), statement));
      onSent();
      const { rowCount } = await changing;
      if (statement.kind === 'update-if-present') continue;
      if (rowCount !== statement.rows.length)
        throw new UnexpectedState(`a row of ${statement.table} to be changed is not there`);
    }
  };
  // A crash of the database loses rows and position together, and the log still has the events.
  await withTransaction(db, work, { durability: 'asynchronous' });
}

const lockRows = z.array(z.object({ free: z.boolean(), live_generation: z.int().nullable(), state: z.string() }));

async function assertLive(db: Queryable, name: string, generation: number): Promise<void> {
  const { rows } = await db.query(
    `select pg_try_advisory_xact_lock_shared(hashtextextended($2, 0)) as free, live_generation, state from projections where name = $1`,
    [name, `consent-ledger ${holdName(name)}`],
  );
  const [row] = lockRows.parse(rows);
  if (row?.live_generation !== generation || row.state !== 'running')
    throw new GenerationMoved(`${name} was swapped or stopped`);
  if (!row.free) throw new GenerationHeld(`${name} is held by a rebuild`);
}

/** Returns the name of the lock with which a rebuild holds the live generation at its position. */
export function holdName(projection: string): string {
  return `projection ${projection} hold`;
}

/**
 * Returns the changes that an event makes in a projection.
 * @throws any error of the handler
 * @throws Error for a body that is not JSON, a consent that does not match its schemas, and a type
 *   that the projection neither handles nor ignores; the message names every such type
 */
function mutationsOf(projection: Projection, event: StreamEvent): readonly Mutation[] {
  const { ignores } = projection;
  const type = newestType(event.type);
  if (ignores !== '*' && (ignores.includes(event.type) || ignores.includes(type))) return [];
  const handler = handlerOf(projection, type);
  if (handler === undefined) {
    if (ignores === '*') return [];
    throw new Error(unknownType(projection, ignores, type));
  }
  const { id, stream, revision } = event;
  return handler({ id, stream, revision, ...contentOf(event) });
}

function handlerOf({ on }: Projection, type: string): Handler | undefined {
  return Object.hasOwn(on, type) ? on[type] : undefined;
}

function unknownType(projection: Projection, ignored: readonly string[], type: string): string {
  const missing = EVENT_TYPES.filter(
    (known) => known !== type && !ignored.includes(known) && handlerOf(projection, known) === undefined,
  );
  const others = missing.length === 0 ? '' : ` It also lacks ${missing.join(', ')}.`;
  return (
    `the projection neither handles nor ignores events of type ${type}.${others} ` +
    "Name each type in `on` or in `ignores`, or ignore all others with `ignores: '*'`."
  );
}

type Content = Pick<ProjectionEvent, 'type' | 'body' | 'record' | 'consent'>;

function contentOf(event: StreamEvent): Content {
  const consent = consentOf(event);
  const { type, body } = upcast(event.type, consent === null ? parseJson(event.data) : consent.body, UPCASTERS);
  if (consent !== null && body === consent.body) return { type, body, record: consent.record, consent };
  const text = typeof body === 'object' && body !== null && 'record' in body ? body.record : undefined;
  const record: unknown = typeof text === 'string' ? JSON.parse(text) : null;
  if (!isConsentType(type)) return { type, body, record, consent: null };
  return {
    type,
    body,
    record,
    consent: { body: ConsentRecordedBody.parse(body), record: SEALED_RECORD_SCHEMAS[type].parse(record) },
  };
}

function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  if (text === null) throw new Error('the body is not UTF-8');
  return JSON.parse(text);
}

/**
 * Finds the column whose type does not accept a value of these changes. PostgreSQL itself does not
 * name it, because the values of all rows are cast in one expression.
 * @returns `table.column (type)`, or null if every type accepts its values
 * @throws UnexpectedState for a table or column that the projection does not have; database errors
 *   other than a refused value
 */
async function refusedColumn(
  db: Queryable,
  projection: Projection,
  mutations: readonly Mutation[],
): Promise<string | null> {
  for (const { table, columns, rows } of statementsOf(projection, mutations)) {
    for (const column of [...(projection.tables[table]?.primaryKey ?? []), ...columns]) {
      const type = columnType(projection, table, column);
      try {
        await db.query(`select count(v::${type}) from unnest($1::text[]) as v`, [columnValues(rows, column, type)]);
      } catch (error) {
        if (error instanceof pg.DatabaseError && error.code?.startsWith('22')) return `${table}.${column} (${type})`;
        throw error;
      }
    }
  }
  return null;
}
