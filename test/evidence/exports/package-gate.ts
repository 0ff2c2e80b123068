import type pg from 'pg';

/** Number of an advisory lock: whoever stores a piece of a package takes it too. */
const GATE = 4711;

/** Puts a gate before the table of pieces: who waits there holds no lock on the export. @param superuser of the database */
export async function putGate(superuser: pg.Pool): Promise<void> {
  await superuser.query(`
    create function wait_at_gate() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(${GATE});
      return null;
    end $$;
    create trigger wait_at_gate before insert on export_chunks for each statement execute function wait_at_gate();`);
}

/** Lets nobody store a piece of a package while `work` runs: exports begin, and stay under way. */
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
