import * as z from 'zod';
import { isConsentType } from '../../schemas/events/sealed-event.js';
import { consentsStream, noticesStream } from '../../schemas/events/streams.js';
import type { EventLog } from '../pipeline/event-log/port.js';
import { isStamped } from '../pipeline/ledger/read-checkpoints.js';
import type { Queryable } from '../platform/database/pool.js';

/** Numbers of a site's events at each stage of the pipeline. They agree exactly when no event is in progress. */
export interface SiteCounts {
  /** Admitted events that are not in the log yet. */
  readonly outbox_waiting: number;
  /** Erased records whose announcement is not in the outbox yet. */
  readonly unannounced_erasures: number;
  readonly log_events: number;
  readonly log_consents: number;
  readonly read_model_rows: number;
  readonly leaves: number;
  readonly consent_leaves: number;
  readonly stamped_events: number;
  readonly stamped_consents: number;
}

export interface CountOptions {
  /** A handle that may read the outbox, leaves, checkpoints and read models. */
  readonly db: Queryable;
  readonly eventLog: EventLog;
}

const PAGE = 500;
const Waiting = z.tuple([
  z.object({ known: z.boolean(), waiting: z.number(), unannounced: z.number(), rows: z.number() }),
]);
const Leaves = z.tuple([z.object({ all: z.number(), stamped: z.number() })]);

/**
 * Counts a site's events at each stage. It reads the log event by event.
 * @returns null for an unknown site
 * @throws RevisionGap, EventLogUnavailable, database errors
 */
export async function countSite(options: CountOptions, siteId: string): Promise<SiteCounts | null> {
  const { rows } = await options.db.query(
    `select exists (select from sites where id = $1) as known,
            (select coalesce(sum(count), 0) from event_log.waiting where site_id = $1) as waiting,
            (select count(*) from erased_records where site_id = $1 and erasure_event_id is null) as unannounced,
            (select count(*) from read_model.consents where site_id = $1) as rows`,
    [siteId],
  );
  const [{ known, waiting, unannounced, rows: readModelRows }] = Waiting.parse(rows);
  if (!known) return null;
  const counts = { events: 0, consents: 0, leaves: 0, consentLeaves: 0, stamped: 0, stampedConsents: 0 };
  for (const stream of [consentsStream(siteId), noticesStream(siteId)]) {
    for (let revision = 0; ; ) {
      const page = await options.eventLog.readStream(stream, revision, PAGE);
      if (page.length === 0) break;
      revision = (page.at(-1)?.revision ?? revision) + 1;
      const consents = page.filter((event) => isConsentType(event.type)).map((event) => event.id);
      const all = await countLeaves(
        options.db,
        page.map((event) => event.id),
      );
      const ofConsents = await countLeaves(options.db, consents);
      counts.events += page.length;
      counts.consents += consents.length;
      counts.leaves += all.all;
      counts.stamped += all.stamped;
      counts.consentLeaves += ofConsents.all;
      counts.stampedConsents += ofConsents.stamped;
    }
  }
  return {
    outbox_waiting: waiting,
    unannounced_erasures: unannounced,
    log_events: counts.events,
    log_consents: counts.consents,
    read_model_rows: readModelRows,
    leaves: counts.leaves,
    consent_leaves: counts.consentLeaves,
    stamped_events: counts.stamped,
    stamped_consents: counts.stampedConsents,
  };
}

async function countLeaves(db: Queryable, eventIds: readonly string[]): Promise<{ all: number; stamped: number }> {
  const { rows } = await db.query(
    `select count(*) as all,
            count(*) filter (where ${isStamped('batch')}) as stamped
       from sealed_events where event_id = any($1::uuid[])`,
    [eventIds],
  );
  return Leaves.parse(rows)[0];
}
