import type pg from 'pg';

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
