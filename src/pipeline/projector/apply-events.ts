import { z } from 'zod';
import type { Mutation, Projection } from '../../../projections/definition.js';
import type { Queryable } from '../../platform/database/pool.js';
import { withTransaction } from '../../platform/database/pool.js';
import type { LoggedEvent, Position } from '../event-log/port.js';
import { failureAt, isRefusedByData, UnexpectedState } from './failures.js';
import { mutationsOf } from './projection-event.js';
import { schemaOf, statementSql } from './sql.js';
import { statementsOf } from './statements.js';

/** Events with what they change, worked out before the transaction. */
export interface PreparedPage {
  readonly events: readonly LoggedEvent[];
  readonly mutations: readonly (readonly Mutation[])[];
  /** Position that a read model stands at with all of these. */
  readonly position: Position;
  /** Why the event behind these cannot be applied, if so. */
  readonly failure: Error | null;
}

/** The generation is no longer at the position from which these events go on, or no longer the live one. */
export class GenerationMoved extends Error {
  override readonly name = 'GenerationMoved';
}

/** A rebuild holds the live generation at its position for a moment. */
export class GenerationHeld extends Error {
  override readonly name = 'GenerationHeld';
}

export interface Target {
  readonly db: Queryable;
  readonly projection: Projection;
  readonly generation: number;
  /** Whether only the live generation is meant, under the lock that lets a rebuild hold it. */
  readonly isLive: boolean;
}

/** Works out what a page of the log changes, up to the first event that fails. */
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
      const good = events.slice(0, mutations.length);
      const position = good.at(-1)?.position ?? from ?? '';
      return { events: good, mutations, position, failure: failureAt(projection.name, event, error) };
    }
  }
  return { events, mutations, position: end, failure: null };
}

/**
 * Applies a page: read model and position in one transaction. If the database refuses it, each event is applied on its own, up to the one that
 * is refused.
 * @param from the position that the generation must be at
 * @throws ProjectionFailure, with everything before the failing event applied; GenerationMoved, GenerationHeld, database errors
 */
export async function applyPage(target: Target, from: Position | null, page: PreparedPage): Promise<void> {
  if (page.events.length > 0) {
    try {
      await applyTogether(target, from, page.events.length, page.mutations.flat(), page.position);
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
      if (isRefusedByData(error)) throw failureAt(target.projection.name, event, error);
      throw error;
    }
    position = event.position;
  }
}

async function applyTogether(
  target: Target,
  from: Position | null,
  count: number,
  mutations: readonly Mutation[],
  to: Position,
): Promise<void> {
  const { db, projection, generation, isLive } = target;
  const statements = statementsOf(projection, mutations);
  await withTransaction(db, async (db) => {
    if (isLive) await assertLive(db, projection.name, generation);
    const moved = await db.query(
      `update projection_generations set position = $4, events = events + $5
        where name = $1 and generation = $2 and position is not distinct from $3`,
      [projection.name, generation, from, to, count],
    );
    if (moved.rowCount !== 1) throw new GenerationMoved(`generation ${generation} of ${projection.name} has moved`);
    for (const statement of statements) {
      const { rows } = statement;
      const sql = statementSql(projection, schemaOf(projection.name, generation), statement);
      const { rowCount } = await db.query(sql, [JSON.stringify(rows)]);
      if (statement.kind === 'update-if-present') continue;
      if (rowCount !== rows.length) throw new UnexpectedState(`a row of ${statement.table} to be changed is not there`);
    }
  });
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

/** Name of the lock by which a rebuild holds the live generation at its position. */
export function holdName(projection: string): string {
  return `projection ${projection} hold`;
}
