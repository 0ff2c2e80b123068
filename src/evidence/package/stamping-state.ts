import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { SealedConsent } from '../../../schemas/events/consent-imported.js';
import { ConsentRecordedBody } from '../../../schemas/events/consent-recorded.js';
import { isConsentType, parseBody, parseConsent } from '../../../schemas/events/sealed-event.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import type { EventLog } from '../../pipeline/event-log/port.js';
import { isStamped } from '../../pipeline/ledger/read-checkpoints.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { KeyRows } from '../../platform/keys/index.js';
import { recordsOfPerson } from './personal-data.js';

const PAGE = 500;

export interface NotYetStampedOptions {
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly keyring: KeyRows;
  readonly siteId: string;
  /** Last revision of the consents stream as of the checkpoint. */
  readonly after: number;
  readonly fits: (record: SealedConsent) => boolean;
  readonly visitorIndex: Uint8Array | null;
  readonly beforePage: () => Promise<void>;
}

interface Body {
  readonly type: string;
  readonly data: Uint8Array;
}

const waitingRows = z.array(z.object({ revision: z.int(), type: z.string(), data: z.instanceof(Uint8Array) }));

/**
 * Counts the consents that match the filter but are not covered by the checkpoint, in the event log
 * and among those that wait for it.
 */
export async function countNotYetStamped(options: NotYetStampedOptions): Promise<number> {
  const { db, eventLog, siteId, after, beforePage } = options;
  const stream = consentsStream(siteId);
  let count = 0;
  let revision = after;
  for (;;) {
    await beforePage();
    const events = await eventLog.readStream(stream, revision + 1, PAGE);
    const last = events.at(-1);
    if (last === undefined) break;
    count += await countFitting(options, events);
    revision = last.revision;
  }
  for (;;) {
    await beforePage();
    const { rows } = await db.query(
      `select revision, type, data from event_log.stored_events
        where stream = $1 and revision > $2 order by revision limit $3`,
      [stream, revision, PAGE],
    );
    const page = waitingRows.parse(rows);
    const last = page.at(-1);
    if (last === undefined) return count;
    count += await countFitting(options, page);
    revision = last.revision;
  }
}

async function countFitting(options: NotYetStampedOptions, bodies: readonly Body[]): Promise<number> {
  const fitting = bodies
    .flatMap(({ type, data }) =>
      isConsentType(type) ? [parseConsent(type, parseBody(ConsentRecordedBody, type, data).record)] : [],
    )
    .filter(options.fits)
    .map((record) => record.event_id);
  if (options.visitorIndex === null) return fitting.length;
  const { db, keyring, siteId, visitorIndex } = options;
  return (await recordsOfPerson(db, keyring, siteId, ['visitor_index', visitorIndex], fitting)).size;
}

export interface WaitOptions {
  /** Longest wait, in milliseconds. */
  readonly atMostMs: number;
  /** Called once, if a wait is necessary. */
  readonly onWaiting?: () => void;
  readonly pollMs?: number;
}

/**
 * Waits until a time stamp covers every consent of a site that was accepted before the call. It does not wait for later
 * ones, so a busy site does not prolong the wait.
 * @returns false if the time ran out
 */
export async function waitUntilStamped(
  db: Queryable,
  siteId: string,
  { atMostMs, onWaiting = () => undefined, pollMs = 500 }: WaitOptions,
): Promise<boolean> {
  const giveUp = performance.now() + atMostMs;
  const stream = consentsStream(siteId);
  let isTold = false;
  const until = async (isDone: () => Promise<boolean>): Promise<boolean> => {
    while (!(await isDone())) {
      if (performance.now() >= giveUp) return false;
      if (!isTold) onWaiting();
      isTold = true;
      await sleep(pollMs);
    }
    return true;
  };
  const last = await lastAccepted(db, stream);
  return last < 0 || (await until(() => isEventStamped(db, stream, last)));
}

/** @returns revision of the newest event, or -1 if there is none */
async function lastAccepted(db: Queryable, stream: string): Promise<number> {
  const { rows } = await db.query('select next_revision - 1 as revision from event_log.streams where name = $1', [
    stream,
  ]);
  const [row] = z
    .array(z.object({ revision: z.int() }))
    .max(1)
    .parse(rows);
  return row?.revision ?? -1;
}

async function isEventStamped(db: Queryable, stream: string, revision: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from leaves where stream = $1 and revision = $2 and ${isStamped('batch')}`,
    [stream, revision],
  );
  return rowCount === 1;
}
