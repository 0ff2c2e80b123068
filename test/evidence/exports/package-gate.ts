import type pg from 'pg';
import { until } from '../../support/wait.js';

/** Number of an advisory lock that every insert of a chunk takes. */
const GATE = 4711;

/**
 * Adds a gate to the table of chunks. A process that waits there holds no lock on the export.
 * @param superuser of the database
 */
export async function putGate(superuser: pg.Pool): Promise<void> {
  await superuser.query(`
    create function wait_at_gate() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(${GATE});
      return null;
    end $$;
    create trigger wait_at_gate before insert on export_chunks for each statement execute function wait_at_gate();`);
}

/** Resolves when a process waits at the gate to store a chunk. */
export async function waitsAtGate(superuser: pg.Pool): Promise<void> {
  await until(async () => {
    const { rowCount } = await superuser.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and wait_event = 'advisory' and query like '%export_chunks%'`,
    );
    return rowCount === 1;
  });
}

/** Blocks the storage of chunks while `work` runs: exports start and remain running. */
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
