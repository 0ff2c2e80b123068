import { setTimeout as delay } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import type { EventLog, Position } from '../../pipeline/event-log/port.js';
import { clockDifference } from '../../platform/clock.js';
import type { Queryable } from '../../platform/database/pool.js';
import { timeOfEventId } from '../../platform/event-ids.js';
import { type PipelineState, readPipelineState } from './state-query.js';

export interface SharedReaderOptions<T> {
  /** Must not reject. */
  readonly read: () => Promise<T>;
  /** Age up to which a value is returned without a new read, in milliseconds. */
  readonly freshMs: number;
  /** Longest wait for a read, in milliseconds; then the previous value is returned. */
  readonly waitMs: number;
  /** Age up to which the previous value replaces a slow read, in milliseconds. */
  readonly staleMs: number;
}

/**
 * Shares one read between concurrent callers, so that at most one read is in progress.
 * @returns a function that returns the value, or null if the read takes too long
 */
export function createSharedReader<T>({
  read,
  freshMs,
  waitMs,
  staleMs,
}: SharedReaderOptions<T>): () => Promise<T | null> {
  let underWay: Promise<T> | null = null;
  let newest: { readonly value: T; readonly at: number } | null = null;
  const start = (): Promise<T> => {
    const reading = read()
      .then((value) => {
        newest = { value, at: performance.now() };
        return value;
      })
      .finally(() => {
        underWay = null;
      });
    underWay = reading;
    return reading;
  };
  return async () => {
    const newerThan = (ms: number): T | null =>
      newest !== null && performance.now() - newest.at < ms ? newest.value : null;
    const fresh = newerThan(freshMs);
    if (fresh !== null) return fresh;
    const waiting = new AbortController();
    const tooLong = delay(waitMs, null, { signal: waiting.signal }).catch(() => null);
    try {
      return (await Promise.race([underWay ?? start(), tooLong])) ?? newerThan(staleMs);
    } finally {
      waiting.abort();
    }
  };
}

export interface StateOptions {
  /** A handle in the role `consent_ledger_api` or `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly projections: readonly { readonly name: string }[];
  /** Number of waiting events at which the outbox is full. */
  readonly outboxLimit: number;
  /** Promised number of seconds from the acceptance of a consent to its sealing. */
  readonly sealWithinSeconds: number;
  /** Receives the error if the state cannot be read, for the program's log. */
  readonly onFailure: (what: string, error: unknown) => void;
}

/** Time for which a snapshot is reused, so that frequent scrapes cause no load. */
const FRESH_MS = 5_000;
/**
 * Longest time that a scrape waits for database and event log. After that it gets the previous snapshot, up to the age
 * below.
 */
const WAIT_MS = 3_000;
const STALE_MS = 60_000;
const STATES = ['running', 'stopped', 'needs_rebuild', 'never_built'] as const;

interface Snapshot {
  /** Null if the database was unavailable. */
  readonly state: PipelineState | null;
  readonly projectionStates: ReadonlyMap<string, string>;
  /** Lags in seconds, or null if the event log was unavailable. */
  readonly lags: ReadonlyMap<string, number> | null;
  readonly clockDifference: number | null;
}

const NOTHING: Snapshot = { state: null, projectionStates: new Map(), lags: null, clockDifference: null };

const GAUGES: readonly {
  readonly name: string;
  readonly help: string;
  readonly value: (state: PipelineState, sealWithinSeconds: number) => number | null;
}[] = [
  {
    name: 'consent_ledger_outbox_waiting_events',
    help: 'Events that were accepted and are not in the event log yet, counted up to the limit.',
    value: (state) => state.outboxWaiting,
  },
  {
    name: 'consent_ledger_outbox_oldest_waiting_seconds',
    help: 'Age of the oldest event that waits for the event log, without quarantined sites; 0 if none waits.',
    value: (state) => state.outboxOldestAge ?? 0,
  },
  {
    name: 'consent_ledger_quarantined_sites',
    help: 'Quarantined sites: sites whose relay stopped until an operator acts.',
    value: (state) => state.quarantinedSites,
  },
  {
    name: 'consent_ledger_unsealed_events',
    help: 'Events that are in the event log and in no Merkle batch yet.',
    value: (state) => state.unsealedEvents,
  },
  {
    name: 'consent_ledger_promise_seconds_left',
    help: 'Seconds until the earliest promise of a consent that is in no Merkle batch; negative if it is broken; the promised time if none waits.',
    value: (state, sealWithinSeconds) => state.promiseSecondsLeft ?? sealWithinSeconds,
  },
  {
    name: 'consent_ledger_promises_overdue',
    help: 'Consents that are in no Merkle batch although the time of their promise has passed.',
    value: (state) => state.overduePromises,
  },
  {
    name: 'consent_ledger_ledger_size_batches',
    help: 'Merkle batches of the ledger.',
    value: (state) => state.ledgerSize,
  },
  {
    name: 'consent_ledger_last_batch_time_seconds',
    help: 'Time at which the newest Merkle batch was sealed, in seconds since 1970.',
    value: (state) => state.lastBatchAt,
  },
  {
    name: 'consent_ledger_unstamped_age_seconds',
    help: 'Time since the oldest Merkle batch without a time stamp was sealed; 0 if all have one.',
    value: (state) => state.unstampedAge ?? 0,
  },
  {
    name: 'consent_ledger_last_stamp_time_seconds',
    help: 'Time in the newest time stamp (genTime), in seconds since 1970.',
    value: (state) => state.lastStampAt,
  },
  {
    name: 'consent_ledger_quota_highest_used_ratio',
    help: 'Part of its quota of this month that a tenant has used, of the tenant with the largest part; 0 without quotas.',
    value: (state) => state.highestQuotaUse ?? 0,
  },
  {
    name: 'consent_ledger_erasure_requests_open',
    help: 'Erasures that were requested and are not finished.',
    value: (state) => state.openErasures,
  },
  {
    name: 'consent_ledger_erasure_oldest_open_seconds',
    help: 'Age of the oldest erasure that is not finished; 0 if there is none.',
    value: (state) => state.oldestErasureAge ?? 0,
  },
];

/**
 * Creates the metrics of the installation's state. Every process shows the same values: aggregate
 * with `max`, not `sum`. Unreadable values are omitted, and `consent_ledger_database_is_readable`
 * or `consent_ledger_event_log_is_readable` shows the cause.
 * @returns a function that updates them and never throws
 */
export function createStateMetrics(registry: Registry, options: StateOptions): () => Promise<void> {
  const registers = [registry];
  const scalar = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const gauges = GAUGES.map(({ name, help, value }) => ({ gauge: scalar(name, help), value }));
  const database = scalar('consent_ledger_database_is_readable', 'Whether the state could be read from the database.');
  const log = scalar('consent_ledger_event_log_is_readable', 'Whether the event log answered.');
  const clock = scalar(
    'consent_ledger_clock_difference_seconds',
    'By how much this process’s clock is ahead of the database’s.',
  );
  scalar('consent_ledger_outbox_limit_events', 'Waiting events from which on consents are refused.').set(
    options.outboxLimit,
  );
  scalar('consent_ledger_seal_within_seconds', 'Seconds within which each consent is sealed, as promised.').set(
    options.sealWithinSeconds,
  );
  const states = new Gauge({
    name: 'consent_ledger_projection_state',
    help: '1 for the state that a projection is in, 0 for the others.',
    labelNames: ['projection', 'state'] as const,
    registers,
  });
  const lags = new Gauge({
    name: 'consent_ledger_projection_lag_seconds',
    help: 'Age of the first event of the log that a projection has not read; 0 if it has read all.',
    labelNames: ['projection'] as const,
    registers,
  });
  const reader = createSharedReader({
    read: () => readSnapshot(options),
    freshMs: FRESH_MS,
    waitMs: WAIT_MS,
    staleMs: STALE_MS,
  });

  const showProjections = ({ state: pipeline, projectionStates, lags: known }: Snapshot): void => {
    states.reset();
    lags.reset();
    for (const { name: projection } of options.projections) {
      const current = projectionStates.get(projection) ?? 'never_built';
      if (pipeline !== null) for (const state of STATES) states.set({ projection, state }, state === current ? 1 : 0);
      const lag = known?.get(projection);
      if (lag !== undefined) lags.set({ projection }, lag);
    }
  };

  return async () => {
    const snapshot = (await reader()) ?? NOTHING;
    for (const { gauge, value } of gauges)
      show(gauge, snapshot.state === null ? null : value(snapshot.state, options.sealWithinSeconds));
    show(clock, snapshot.clockDifference);
    database.set(snapshot.state === null ? 0 : 1);
    log.set(snapshot.lags === null ? 0 : 1);
    showProjections(snapshot);
  };
}

function show(gauge: Gauge, value: number | null): void {
  if (value === null) gauge.remove();
  else gauge.set(value);
}

async function readSnapshot({ db, eventLog, projections, outboxLimit, onFailure }: StateOptions): Promise<Snapshot> {
  let snapshot = NOTHING;
  try {
    const { state, projections: places } = await readPipelineState(db, outboxLimit);
    snapshot = {
      ...snapshot,
      state,
      projectionStates: new Map(places.map(({ name, state }) => [name, state])),
      clockDifference: (await clockDifference(db, Date.now)) / 1000,
    };
    const positions = new Map(places.map(({ name, position }) => [name, position]));
    try {
      const lags = new Map<string, number>();
      for (const { name } of projections) {
        lags.set(name, await projectionLag(eventLog, positions.get(name) ?? null, Date.now()));
      }
      snapshot = { ...snapshot, lags };
    } catch (error) {
      onFailure('event log', error);
    }
  } catch (error) {
    onFailure('database', error);
  }
  return snapshot;
}

const EVENTS = 10;
const MAX_PAGES = 20;

/**
 * Returns the age in seconds of the first event that a projection has not read; 0 if it has read all. The age follows
 * from the time in the event's id. Ledger events have random ids without a time and are skipped. A limited number of
 * events is examined.
 * @param now Unix milliseconds
 * @throws EventLogUnavailable
 */
async function projectionLag(eventLog: EventLog, position: Position | null, now: number): Promise<number> {
  let after = position;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const page = await eventLog.readAll(after, EVENTS);
    const timed = page.events.find(({ id }) => isTimeOrdered(id));
    if (timed !== undefined) return Math.max(0, (now - timeOfEventId(timed.id).getTime()) / 1000);
    if (page.atEnd) return 0;
    after = page.next;
  }
  return 0;
}

/** UUID version 7 (RFC 9562 §5.7). */
function isTimeOrdered(id: string): boolean {
  return id[14] === '7';
}
