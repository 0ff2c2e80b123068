import type pg from 'pg';
import type { Projection } from '../../../projections/definition.js';
import type { EventLog, LoggedEvent, Position } from '../event-log/port.js';
import { preparePage } from './apply-events.js';
import { failureAt, isRefusedByData } from './failures.js';
import { createTablesSql, statementSql, statementsOf } from './sql.js';

/** A replay of a projection into temporary tables, for comparison. */
export interface TemporaryReplay {
  /** Creates the empty tables in the schema `pg_temp`. */
  start(): Promise<void>;
  /**
   * Applies the events up to a position.
   * @param onPage called after each page with the number of events so far
   * @returns whether the log reaches the position
   * @throws ProjectionFailure if an event cannot be applied; EventLogUnavailable, database errors
   */
  advance(until: Position, onPage: (events: number) => Promise<void>): Promise<boolean>;
  /** Number of applied events. */
  readonly events: number;
}

const SCHEMA = 'pg_temp';
const PAGE = 500;

/** @param db a connection, whose temporary tables hold the rows */
export function createReplay(db: pg.PoolClient, eventLog: EventLog, projection: Projection): TemporaryReplay {
  let cursor: Position | null = null;
  let count = 0;
  const apply = async (events: readonly LoggedEvent[]): Promise<void> => {
    const [first] = events;
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
  };
  return {
    start: async () => {
      await db.query(createTablesSql(projection, SCHEMA));
    },
    advance: async (until, onPage) => {
      while (cursor === null || cursor < until) {
        const page = await eventLog.readAll(cursor, PAGE);
        const events = page.events.filter(({ position }) => position <= until);
        await apply(events);
        await onPage(count);
        if (events.length < page.events.length) {
          cursor = events.at(-1)?.position ?? cursor;
          return true;
        }
        cursor = page.next;
        if (page.atEnd) break;
      }
      return cursor !== null && cursor >= until;
    },
    get events() {
      return count;
    },
  };
}
