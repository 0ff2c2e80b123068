import pg from 'pg';
import * as z from 'zod';
import { isConnectionFailure } from './connection-failure.js';
import { DatabaseSetupError } from './errors.js';

/**
 * One part of what each new connection does before its first use. The statements of all steps are
 * sent in one message, so that a connection costs one round trip more, however many steps there are.
 */
export interface SessionStep {
  /** One statement without parameters and without a semicolon. */
  readonly sql: string;
  /**
   * Receives the rows of the statement.
   * @throws Error if the connection must not be used; it is closed, and `connect` rejects with this error
   */
  readonly accept?: (rows: readonly unknown[]) => void;
}

const ANSWER_MS = 10_000;
const Results = z.array(z.object({ rows: z.array(z.unknown()) }));

/**
 * Prepares a new connection: runs the statements of the steps in order, in one implicit transaction,
 * and then gives each step its rows.
 * @throws any error of a step; DatabaseSetupError `session_refused` if the server refuses a statement;
 *   any error of the connection
 */
export async function prepareSession(client: pg.ClientBase, steps: readonly SessionStep[]): Promise<void> {
  const text = steps.map(({ sql }) => sql).join(';\n');
  const query: pg.QueryConfig & Pick<pg.ClientConfig, 'query_timeout'> = { text, query_timeout: ANSWER_MS };
  // `pg` returns a list for a message with more than one statement.
  const answer: unknown = await client.query(query).catch((error: unknown) => {
    throw refused(error);
  });
  const results = Results.parse(Array.isArray(answer) ? answer : [answer]);
  for (const [place, { accept }] of steps.entries()) accept?.(results[place]?.rows ?? []);
}

/** An error of the connection is passed on, because the connection may be tried again. */
function refused(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError) || isConnectionFailure(error)) return error;
  return new DatabaseSetupError(
    'session_refused',
    `The database refuses what each connection of the service begins with (${error.message}). Check the roles that ` +
      '`consent-ledger migrate` creates, and the defaults that ALTER ROLE or ALTER DATABASE gave to the user of DATABASE_URL.',
    { cause: error },
  );
}
