import pg from 'pg';
import type { LoggedEvent } from '../event-log/port.js';

const MAX_REASON = 1_000;

/** Event and reason that stopped a projection, without any content of the event. */
export interface Problem {
  readonly reason: string;
  readonly event?: { readonly id: string; readonly type: string; readonly stream: string; readonly revision: number };
}

/** A projection cannot apply an event. Only this projection stops. */
export class ProjectionFailure extends Error {
  override readonly name = 'ProjectionFailure';
  constructor(
    readonly projection: string,
    readonly problem: Problem,
    options?: ErrorOptions,
  ) {
    const { event } = problem;
    const where =
      event === undefined ? '' : ` at event ${event.id} (${event.type}, ${event.stream}, revision ${event.revision})`;
    super(`projection ${projection} stopped${where}: ${problem.reason}`, options);
  }
}

/** The read model is not in the state that a change expects. */
export class UnexpectedState extends Error {
  override readonly name = 'UnexpectedState';
}

/**
 * Wraps the failure of one event.
 * @param place table and column of the value that the database refused, if they are known
 */
export function failureAt(
  projection: string,
  event: LoggedEvent,
  error: unknown,
  place: string | null = null,
): ProjectionFailure {
  const { id, type, stream, revision } = event;
  return new ProjectionFailure(
    projection,
    { reason: reasonOf(error, place), event: { id, type, stream, revision } },
    { cause: error },
  );
}

/** Returns whether the database refused the data itself, so that a retry would fail too. */
export function isRefusedByData(error: unknown): boolean {
  if (error instanceof UnexpectedState) return true;
  return error instanceof pg.DatabaseError && error.code !== undefined && /^(22|23|42|54)/.test(error.code);
}

// The detail of a database error quotes values, so only its code and place are reported.
function reasonOf(error: unknown, place: string | null): string {
  if (error instanceof pg.DatabaseError) {
    const { code, constraint, table, column } = error;
    const where = place ?? (column === undefined ? table : `${table ?? ''}.${column}`);
    return [
      `the database refused it: ${code ?? 'unknown error'}`,
      ...(where === undefined ? [] : [`at ${where}`]),
      ...(constraint === undefined ? [] : [`(constraint ${constraint})`]),
    ].join(' ');
  }
  return (error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON);
}
