import type pg from 'pg';
import { countLocks } from './count-locks.js';
import { PATIENCE_MS, until } from './wait.js';

/** Number of an advisory lock that inserts into a table with a gate take. */
const GATE = 4711;
const WAITS = `locktype = 'advisory' and objid = ${GATE} and not granted`;

/**
 * Adds a gate to a table. A process that waits there has inserted nothing yet.
 * @param superuser of the database
 * @param condition SQL; an insert passes while it does not hold
 */
export async function putGate(superuser: pg.Pool, table: string, condition = 'true'): Promise<void> {
  await superuser.query(`
    create function wait_at_gate() returns trigger language plpgsql security definer as $$
    begin
      if ${condition} then perform pg_advisory_xact_lock_shared(${GATE}); end if;
      return null;
    end $$;
    create trigger wait_at_gate before insert on ${table} for each statement execute function wait_at_gate();`);
}

/** Removes the gate of a table. */
export async function removeGate(superuser: pg.Pool, table: string): Promise<void> {
  await superuser.query(`drop trigger wait_at_gate on ${table}; drop function wait_at_gate()`);
}

/** Resolves when one process waits at the gate. */
export async function waitsAtGate(superuser: pg.Pool): Promise<void> {
  await until(async () => (await countLocks(superuser, WAITS)) === 1);
}

/** Ends the sessions that wait at the gate. */
export async function endWaiting(superuser: pg.Pool): Promise<void> {
  await superuser.query(`select pg_terminate_backend(pid, ${PATIENCE_MS}) from pg_locks where ${WAITS}
    and database = (select oid from pg_database where datname = current_database())`);
}

/** Closes the gate while `work` runs. */
export async function holdGate(superuser: pg.Pool, work: () => Promise<void>): Promise<void> {
  const client = await superuser.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [GATE]);
    await work();
  } finally {
    await client.query('select pg_advisory_unlock($1)', [GATE]);
    client.release();
  }
}
