import * as z from 'zod';
import type { Mutation, Projection } from '../../../projections/definition.js';
import type { Queryable } from '../../platform/database/pool.js';
import { withTransaction } from '../../platform/database/pool.js';
import { isForeign } from '../event-log/foreign-event.js';
import type { LoggedEvent, Position } from '../event-log/port.js';
import { failureAt, isRefusedByData, UnexpectedState } from './failures.js';
import { mutationsOf } from './projection-event.js';
import { refusedColumn } from './refused-value.js';
import { schemaOf, statementSql } from './sql.js';
import { statementsOf } from './statements.js';

/** Events and their changes, computed before the transaction. */
export interface PreparedPage {
  readonly events: readonly LoggedEvent[];
  readonly mutations: readonly (readonly Mutation[])[];
  /** Position of a read model after all of these events. */
  readonly position: Position;
  /** Reason why the event after these cannot be applied; null if there is none. */
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

/** Computes the changes of a page of the log, up to the first event that fails. A foreign one changes nothing. */
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
      // The sealer quarantines the site. The read models of the others go on.
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
 * @param onSent called whenever rows were sent, and the database works on them
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
  // Rows and position are lost together in a crash of the database, and the log has the events.
  await withTransaction(db, work, { durability: 'redone' });
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
