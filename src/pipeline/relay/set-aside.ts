import * as z from 'zod';
import { consentsStream, noticesStream } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import { assertGenuine, NotGenuine, type ProofKeys } from '../../platform/keys/index.js';
import { loggedRevision } from './waiting.js';

const PAGE = 500;

const eventRows = z.array(
  z.object({ revision: z.int(), id: z.string(), type: z.string(), data: z.instanceof(Uint8Array) }),
);
const countRows = z.tuple([z.object({ stated: z.int() })]);

/** Events that were removed from the waiting events of a site. */
export interface SetAside {
  /** Ids of the events that are now in `event_log.set_aside`. */
  readonly eventIds: readonly string[];
  /** Number of waiting events that the database no longer has. */
  readonly missing: number;
}

/**
 * Sets aside the waiting events of a site that must never enter the log: altered ones, and positions whose event is
 * missing. The remaining events close the gaps, and the relay can continue.
 * @param db a handle in the role `consent_ledger_worker`
 */
export async function setRefusedAside(db: Queryable, keyring: ProofKeys, siteId: string): Promise<SetAside> {
  const eventIds: string[] = [];
  let missing = 0;
  for (const stream of [consentsStream(siteId), noticesStream(siteId)]) {
    const { refused, found } = await examine(db, keyring, stream);
    const { rows } = await db.query(
      `select coalesce(sum(w.count), 0)::int as stated from event_log.waiting w join event_log.streams s on s.number = w.stream
        where s.name = $1`,
      [stream],
    );
    const lacking = countRows.parse(rows)[0].stated - found;
    if (refused.length === 0 && lacking === 0) continue;
    const end = await loggedRevision(db, stream);
    await db.query('select event_log.rebase($1, $2, $3::uuid[], $4::uuid[])', [stream, end, [], refused]);
    eventIds.push(...refused);
    missing += lacking;
  }
  return { eventIds, missing };
}

async function examine(
  db: Queryable,
  keyring: ProofKeys,
  stream: string,
): Promise<{ readonly refused: readonly string[]; readonly found: number }> {
  const refused: string[] = [];
  let found = 0;
  for (let after = -1; ; ) {
    const { rows } = await db.query(
      `select revision, id, type, data from event_log.waiting_events
        where stream = $1 and revision > $2 order by revision limit $3`,
      [stream, after, PAGE],
    );
    const page = eventRows.parse(rows);
    for (const { id, type, data } of page) {
      try {
        await assertGenuine({ id, type, data, stream }, keyring);
      } catch (error) {
        if (!(error instanceof NotGenuine)) throw error;
        refused.push(id);
      }
    }
    found += page.length;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return { refused, found };
    after = last.revision;
  }
}
