import type pg from 'pg';
import type { Projection } from '../../../projections/definition.js';
import { consentOf } from '../../../schemas/events/sealed-event.js';
import { identifier } from '../../platform/database/parameters.js';
import type { EventLog, LoggedEvent, Position } from '../event-log/port.js';
import { preparePage } from './apply-events.js';
import { failureAt, isRefusedByData } from './failures.js';
import { createTablesSql, readingIndexes, statementSql, statementsOf } from './sql.js';

/** A replay of a projection into temporary tables, for comparison. */
export interface TemporaryReplay {
  readonly projection: Projection;
  /** Position up to which the events are applied, or null if there is none. */
  readonly position: Position | null;
  /** Number of applied events. */
  readonly events: number;
  /**
   * Applies the next events.
   * @param position position after these events
   * @throws ProjectionFailure if an event cannot be applied; database errors
   */
  apply(events: readonly LoggedEvent[], position: Position | null): Promise<void>;
  /** Gives the tables the form of a built generation: with all indexes, but without rows. */
  empty(): Promise<void>;
}

const SCHEMA = 'pg_temp';
const PAGE = 500;

/**
 * Creates the empty tables in the schema `pg_temp`.
 * @param db a connection, whose temporary tables hold the rows
 */
export async function createReplay(db: pg.PoolClient, projection: Projection): Promise<TemporaryReplay> {
  let position: Position | null = null;
  let count = 0;
  await db.query(createTablesSql(projection, SCHEMA));
  return {
    projection,
    apply: async (events, end) => {
      const [first] = events;
      position = end;
      if (first === undefined) return;
      const page = preparePage(projection, null, events, first.position);
      try {
        for (const statement of statementsOf(projection, page.mutations.flat()))
          await db.query(statementSql(projection, SCHEMA, statement));
      } catch (error) {
        if (!isRefusedByData(error)) throw error;
        throw failureAt(projection.name, first, error);
      }
      if (page.failure !== null) throw page.failure;
      count += events.length;
    },
    empty: async () => {
      const tables = Object.keys(projection.tables).map((name) => `${SCHEMA}.${identifier(name)}`);
      await db.query(
        [`truncate ${tables.join(', ')}`, ...readingIndexes(projection, SCHEMA).map(({ sql }) => sql)].join(';'),
      );
    },
    get position() {
      return position;
    },
    get events() {
      return count;
    },
  };
}

/** A replay, and the position that it must reach. */
export interface ReplayTarget {
  readonly replay: TemporaryReplay;
  readonly until: Position;
}

/**
 * Reads the log once for several replays, each up to its own position or to the end of the log.
 * @param onPage called after each page with the number of its events
 * @throws ProjectionFailure if an event cannot be applied; EventLogUnavailable, database errors
 */
export async function advanceReplays(
  eventLog: EventLog,
  targets: readonly ReplayTarget[],
  onPage: (events: number) => Promise<void>,
): Promise<void> {
  for (let isAtEnd = false; !isAtEnd; ) {
    const open = targets.filter((target) => !isReached(target));
    const [from] = open.map(({ replay }) => replay.position ?? '').sort();
    if (from === undefined) return;
    const page = await eventLog.readAll(from === '' ? null : from, PAGE);
    isAtEnd = page.atEnd;
    // Each body is read once for all of them.
    const events = page.events.map((event) => ({ ...event, consent: consentOf(event) }));
    for (const { replay, until } of open) {
      const after = replay.position ?? '';
      // Another replay is behind this one.
      if ((page.next ?? '') <= after) continue;
      const own = events.filter(({ position }) => position > after && position <= until);
      await replay.apply(own, page.next !== null && page.next > until ? until : page.next);
    }
    await onPage(events.length);
  }
}

/** Whether the replay has reached its position. */
export function isReached({ replay, until }: ReplayTarget): boolean {
  return replay.position !== null && replay.position >= until;
}
