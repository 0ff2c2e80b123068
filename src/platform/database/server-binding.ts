import * as z from 'zod';
import { deferred } from '../deferred.js';
import { ServerChanged, standbyReached } from './errors.js';
import type { SessionStep } from './session.js';

/**
 * Binds all connections of a process to one server and one of its time lines. A promoted standby, a restored copy and a
 * server that was set back count as other servers, because what the process has in memory may never have happened
 * there.
 */
export interface ServerBinding {
  /** Reads the identity of the server on each new connection, and refuses a connection to another one. */
  readonly step: SessionStep;
  /** Rejects with the error of the first refusal. */
  readonly lost: Promise<never>;
  /**
   * Checks the server that an answer states with `STATED_SERVER`, because a connection through a pooler can later lead
   * to another server.
   * @throws ServerChanged if it is another server, or if no connection may be used any more
   */
  confirm(stated: string): void;
  /** Returns why no connection may be used any more, with the original error as its cause, or null if they may. */
  refusal(): ServerChanged | null;
  /** Ends the use of all connections: from now on it rejects with `refusal`. */
  refuse(error: Error): void;
  /**
   * Names server and time line.
   * @throws Error before the first connection
   */
  server(): string;
}

/**
 * SQL expression: system identifier and time line of the server that evaluates it; a server that does not accept writes
 * states `standby` instead.
 */
export const STATED_SERVER = `(select system_identifier || '/' ||
    case when pg_is_in_recovery() then 'standby' else substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8) end
  from pg_control_system())`;

const Identity = z.tuple([
  z.object({
    server: z.string(),
    is_standby: z.boolean(),
    flushed: z.string().nullable(),
    goes_on: z.boolean().nullable(),
  }),
]);
const NOTHING_FLUSHED = '0/0';

/**
 * Creates the binding of one process. The first connection decides.
 *
 * `pg_control_system` names the cluster, which a standby shares. The time line in the name of the current WAL file
 * changes immediately with a promotion, before the next checkpoint. A server that was set back to an earlier copy of
 * its files keeps both, but its WAL is shorter than it was.
 */
export function bindServer(): ServerBinding {
  let bound: string | null = null;
  let flushed = NOTHING_FLUSHED;
  let refusal: ServerChanged | null = null;
  const lost = deferred<never>();
  lost.promise.catch(() => undefined);
  const refuse = (error: Error): void => {
    refusal = new ServerChanged(error.message, { cause: error });
    lost.reject(error);
  };
  const accept = (rows: readonly unknown[]): void => {
    const [found] = Identity.parse(rows);
    if (refusal !== null) throw refusal;
    if (found.is_standby || found.flushed === null) {
      throw standbyReached();
    }
    if (bound === null || (bound === found.server && found.goes_on === true)) {
      bound = found.server;
      flushed = found.flushed;
      return;
    }
    const was = bound === found.server ? `and was set back from ${flushed} to ${found.flushed}` : `not ${bound}`;
    refuse(new ServerChanged(`The database server is ${found.server} (system and time line), ${was}.`));
    throw new ServerChanged(`The database server changed: this process does not use it before it has compared.`);
  };
  return {
    step: {
      // Read when the statement is sent, because answers may arrive in another order.
      get sql() {
        return `select ${STATED_SERVER} as server, flushed is null as is_standby, flushed::text,
            flushed >= '${flushed}'::pg_lsn as goes_on
          from (select case when not pg_is_in_recovery() then pg_current_wal_flush_lsn() end as flushed) f`;
      },
      accept,
    },
    lost: lost.promise,
    confirm: (stated) => {
      if (refusal !== null) throw refusal;
      if (stated === bound) return;
      refuse(new ServerChanged(`The database server that answered is ${stated} (system and time line), not ${bound}.`));
      throw new ServerChanged('An open connection leads to another database server: its answer does not count.');
    },
    refusal: () => refusal,
    refuse,
    server: () => {
      if (bound === null) throw new Error('no connection to the database was made yet');
      return bound;
    },
  };
}
