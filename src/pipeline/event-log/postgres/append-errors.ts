import pg from 'pg';
import { DeadlinePassed } from '../../../platform/background/waiting.js';
import { AppendOutcomeUnknown, AppendRefused, EventLogUnavailable } from '../errors.js';

/**
 * SQLSTATE classes after which the server may have committed: connection exceptions, and a shutdown
 * or crash in progress.
 */
const AMBIGUOUS = /^(08|57P|40003)/;

/**
 * Maps the error of an append whose statement was sent to the error of the port.
 * @param error error of `client.query`: an error response of the server, a lost connection, or
 *   `DeadlinePassed`
 */
export function appendFailure(error: unknown): Error {
  if (error instanceof pg.DatabaseError && error.code !== undefined && !AMBIGUOUS.test(error.code)) {
    if (error.code === '23505') {
      return new AppendRefused(`another event has the place in the log already: ${error.detail ?? error.message}`, {
        cause: error,
      });
    }
    return new EventLogUnavailable(`the event log refused the append: ${error.message}`, { cause: error });
  }
  const why = error instanceof DeadlinePassed ? error.message : 'the connection was lost before the answer came';
  return new AppendOutcomeUnknown(`append: ${why}`, { cause: error });
}

/** Maps the error of any operation other than an append. */
export function unavailable(what: string, error: unknown): EventLogUnavailable {
  const reason = error instanceof Error ? error.message : String(error);
  return new EventLogUnavailable(`the event log does not answer (${what}): ${reason}`, { cause: error });
}
