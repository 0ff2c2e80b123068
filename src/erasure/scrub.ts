import pg from 'pg';
import { z } from 'zod';

/**
 * Tables whose deleted or superseded rows contain key seeds, blind indexes or encrypted contents.
 */
const TABLES = ['record_keys', 'persons', 'approval_tokens', 'attachments', 'exports', 'erasure_requests'] as const;
const LOCK_WAIT = '10s';
/** Kept as text, because a JavaScript date would drop the microseconds. */
const StartRows = z.tuple([z.object({ began: z.string() })]);

/** Deleted rows could not be removed from the database's files. The message states the reason. */
export class ScrubFailed extends Error {
  override readonly name = 'ScrubFailed';
}

/**
 * Rewrites the tables from which erasures delete, so that the database's files no longer contain
 * deleted data. PostgreSQL keeps the bytes of deleted rows, and an ordinary VACUUM overwrites only
 * some of them. VACUUM FULL locks each table, so that nothing is admitted meanwhile.
 * @param ownerUrl connection URL of the tables' owner
 * @throws ScrubFailed if a table stays in use, or an old transaction may still see deleted rows; no
 *   data is lost, and the call may be repeated
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
    // The count is parsed from an English message. Without the right to set the language, the
    // missing count raises the error below.
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
