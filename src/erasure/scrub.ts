import pg from 'pg';
import { z } from 'zod';

/** Whose deleted rows, or former versions of rows, hold seeds of keys, blind indexes or encrypted contents. */
const TABLES = ['record_keys', 'approval_tokens', 'attachments', 'exports', 'erasure_requests'] as const;
const LOCK_WAIT = '10s';
/** As text: a JavaScript date would cut microseconds off. */
const StartRows = z.tuple([z.object({ began: z.string() })]);

/** Deleted rows could not be removed from the database's files; the message says why. */
export class ScrubFailed extends Error {
  override readonly name = 'ScrubFailed';
}

/**
 * Writes the tables that erasures delete from anew, so that the database's files no longer hold what was deleted: PostgreSQL leaves the bytes of deleted rows where they
 * are, and an ordinary VACUUM, too, overwrites only some. Nothing is admitted while a table is written: VACUUM FULL locks it.
 * @param ownerUrl of the tables' owner
 * @throws ScrubFailed if a table stays in use, or an old transaction may still see what was deleted: nothing is lost, and it may be called again
 */
export async function scrubErased(ownerUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl, application_name: 'consent-ledger scrub' });
  let kept: number | null = null;
  client.on('notice', ({ detail }) => {
    const [, count] = /(\d+) dead row versions cannot be removed yet/.exec(detail ?? '') ?? [];
    if (count !== undefined) kept = (kept ?? 0) + Number(count);
  });
  await client.connect();
  try {
    await client.query(`set statement_timeout = 0; set lock_timeout = '${LOCK_WAIT}'`);
    const { rows } = await client.query('select clock_timestamp()::text as began');
    const [{ began }] = StartRows.parse(rows);
    // The count is read from a message; who may not choose its language is told so below.
    await client.query(`set lc_messages = 'C'`).catch(() => undefined);
    for (const table of TABLES) {
      kept = null;
      await client.query(`vacuum (full, verbose) ${table}`);
      if (kept === null)
        throw new ScrubFailed(
          `The table ${table} was rewritten, but the server does not report whether completely. Run the scrub again.`,
        );
      if (kept > 0) {
        throw new ScrubFailed(
          `${table} still contains ${kept} deleted rows for a transaction or replica that began before the deletion. Run the scrub again after it has ended.`,
        );
      }
    }
    await client.query('insert into scrubs (started_at, finished_at) values ($1, clock_timestamp())', [began]);
  } catch (error) {
    if (error instanceof ScrubFailed) throw error;
    throw new ScrubFailed(
      `The scrub failed, and the database files may still contain deleted rows: ${reasonOf(error)}`,
      { cause: error },
    );
  } finally {
    await client.end();
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
