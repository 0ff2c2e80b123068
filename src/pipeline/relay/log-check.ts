import { z } from 'zod';
import { LEDGER_STREAM, POLICY_STREAM } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import { LogBehind } from '../event-log/errors.js';
import { type EventLog, NO_STREAM } from '../event-log/port.js';

const PAGE = 500;
const streamRows = z.array(z.object({ stream: z.string(), revision: z.int() }));

/** The end of a stream as PostgreSQL recorded it, and as the log reports it. */
export interface StreamEnds {
  readonly stream: string;
  readonly known: number;
  readonly actual: number;
}

/**
 * Verifies that no stream of the log ends before its recorded end.
 * @throws LogBehind, EventLogUnavailable
 */
export async function assertLogNotBehind(db: Queryable, eventLog: EventLog): Promise<void> {
  for await (const { stream, known, actual } of streamEnds(db, eventLog)) {
    if (actual < known) throw new LogBehind(stream, known, actual);
  }
}

/**
 * Yields both ends of `ledger`, of `policy` and of every stream that received relayed events.
 * @throws EventLogUnavailable
 */
export async function* streamEnds(db: Queryable, eventLog: EventLog): AsyncGenerator<StreamEnds, void, undefined> {
  let after = '';
  const { rows } = await db.query(
    `select '${LEDGER_STREAM}' as stream, ledger_revision as revision from sealer_state
     union all select '${POLICY_STREAM}', coalesce(max(revision), -1) from ledger_policies`,
  );
  let page = streamRows.parse(rows);
  while (page.length > 0) {
    const inLog = await eventLog.lastRevisions(page.map(({ stream }) => stream));
    for (const { stream, revision } of page) {
      yield { stream, known: revision, actual: inLog.get(stream) ?? NO_STREAM };
    }
    const next = await db.query(
      'select stream, revision from relayed_streams where stream > $1 order by stream limit $2',
      [after, PAGE],
    );
    page = streamRows.parse(next.rows);
    after = page.at(-1)?.stream ?? after;
  }
}
