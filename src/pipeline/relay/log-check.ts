import * as z from 'zod';
import { LEDGER_STREAM, POLICY_STREAM, siteOfStream } from '../../../schemas/events/streams.js';
import type { ServiceLogger } from '../../platform/background/part.js';
import { pause } from '../../platform/background/waiting.js';
import type { Queryable } from '../../platform/database/pool.js';
import { LogBehind, type LogDamaged, RevisionGap } from '../event-log/errors.js';
import { type EventLog, NO_STREAM } from '../event-log/port.js';
import { quarantineSite } from '../event-log/quarantined-sites.js';

const PAGE = 500;
const streamRows = z.array(z.object({ stream: z.string(), revision: z.int() }));

/** A stream as PostgreSQL recorded it, and as the log reports it. */
export interface StreamEnds {
  readonly stream: string;
  /** Last revision that was appended. */
  readonly known: number;
  /** First revision that the log has, or `NO_STREAM` (-1) if there is none. */
  readonly first: number;
  readonly actual: number;
}

export interface CheckOptions {
  readonly logger: ServiceLogger;
  /** Pause between two pages of streams, in milliseconds. If absent, there is no pause. */
  readonly paceMs?: number;
  /** Ends the check before the next page. */
  readonly signal?: AbortSignal;
}

/**
 * Verifies that every stream of the log still has all that was appended to it. A site whose stream lost events is
 * quarantined, and the others are not affected. The streams of the ledger come first, because an older log lacks events
 * of the whole ledger, not just of single sites.
 * @param db a handle in the role `consent_ledger_worker`
 * @throws LogBehind, RevisionGap if a stream of the ledger lost events
 * @throws EventLogUnavailable, database errors
 */
export async function assertLogWhole(db: Queryable, eventLog: EventLog, options: CheckOptions): Promise<void> {
  for await (const ends of streamEnds(db, eventLog, options)) {
    const damage = damageOf(ends);
    if (damage === null) continue;
    const siteId = siteOfStream(ends.stream);
    if (siteId === null) throw damage;
    if (await quarantineSite(db, siteId, damage.message))
      options.logger.error({ site: siteId, reason: damage.message }, 'site quarantined: the event log lost its events');
  }
}

/** Returns what a stream lost, or null if it lost nothing. */
export function damageOf({ stream, known, first, actual }: StreamEnds): LogDamaged | null {
  if (actual < known) return new LogBehind(stream, known, actual);
  return first > 0 ? new RevisionGap(stream, 0, first) : null;
}

/**
 * Yields the ends of `ledger`, of `policy` and of every stream of a site.
 * @throws EventLogUnavailable
 */
export async function* streamEnds(
  db: Queryable,
  eventLog: EventLog,
  { paceMs = 0, signal = new AbortController().signal }: Partial<CheckOptions> = {},
): AsyncGenerator<StreamEnds, void, undefined> {
  let after = '';
  const { rows } = await db.query(
    `select '${LEDGER_STREAM}' as stream, ledger_revision as revision from sealer_state
     union all select '${POLICY_STREAM}', coalesce(max(revision), -1) from ledger_policies`,
  );
  let page = streamRows.parse(rows);
  while (page.length > 0 && !signal.aborted) {
    const streams = page.map(({ stream }) => stream);
    const last = await eventLog.lastRevisions(streams);
    const first = await eventLog.firstRevisions(streams);
    for (const { stream, revision } of page) {
      const [begins, ends] = [first.get(stream) ?? NO_STREAM, last.get(stream) ?? NO_STREAM];
      yield { stream, known: revision, first: begins, actual: ends };
    }
    if (paceMs > 0) await pause(paceMs, signal);
    const next = await db.query(
      'select stream, revision from event_log.logged_streams where stream > $1 order by stream limit $2',
      [after, PAGE],
    );
    page = streamRows.parse(next.rows);
    after = page.at(-1)?.stream ?? after;
  }
}
