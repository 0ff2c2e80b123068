import { isSealedStream, siteOfStream } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import { assertGenuine, NotGenuine, type ProofKeys } from '../../platform/keys/index.js';
import { NO_TRACING, type Tracing } from '../../platform/telemetry/tracing.js';
import { countOf, type Placement, RefusedForGood, type Run, refusal } from './placement.js';
import { type PageLimits, sharePerSite, takeWaiting, type WaitingRow } from './waiting.js';

export interface PageRelayOptions {
  readonly db: Queryable;
  readonly placement: Placement;
  readonly keyring: ProofKeys;
  /** Maximum number of events in memory at the same time. */
  readonly limits: PageLimits;
  readonly tracing?: Tracing;
}

/** Result of relaying one page. */
export interface RelayedPage {
  /** Number of events that were added to the log. */
  readonly relayed: number;
  /** Whether events of its sites may still be waiting because of the page's limits. */
  readonly mayWait: boolean;
  /**
   * The sites whose next events were not relayed: RefusedForGood, or a transient error
   * (EventLogUnavailable, AppendOutcomeUnknown, RevisionConflict, StreamMoved), or an OperatorNeeded.
   */
  readonly failures: ReadonlyMap<string, unknown>;
}

/**
 * Relays the first waiting events of sites, in the order of each site across its streams. The failure of one site does
 * not affect the others.
 * @throws StreamMoved, database errors
 */
export async function relayFirstEvents(
  { db, placement, keyring, limits, tracing = NO_TRACING }: PageRelayOptions,
  siteIds: readonly string[],
  signal: AbortSignal,
): Promise<RelayedPage> {
  const failures = new Map(await placement.prepare(siteIds));
  const known = siteIds.filter((siteId) => !failures.has(siteId));
  const { rows, withoutEvents } = await takeWaiting(db, known, limits);
  for (const { siteId, number } of withoutEvents)
    failures.set(siteId, new RefusedForGood(`row ${number} of event_log.waiting waits, and an event of it is missing`));
  const runs = await genuineRuns(rows, keyring, failures);
  let relayed = 0;
  while (runs.size > 0 && !signal.aborted) {
    const next = [...runs].flatMap(([siteId, own]) => {
      const run = own.shift();
      if (own.length === 0) runs.delete(siteId);
      return run ?? [];
    });
    const events = next.reduce((sum, run) => sum + countOf(run), 0);
    const placed = await tracing.span('relay append', { 'consent_ledger.events': events }, () => placement.place(next));
    for (const [place, run] of next.entries()) {
      const { events: done, failure } = placed[place] ?? { events: 0, failure: null };
      relayed += done;
      if (failure !== null) failures.set(run.siteId, refusal(failure));
      if (done < countOf(run)) runs.delete(run.siteId);
    }
  }
  return { relayed, mayWait: isNearLimit(rows, known.length, limits), failures };
}

/**
 * Returns the runs of each site in order, up to its first event that may not enter the log.
 * @param failures receives the sites with such an event
 */
async function genuineRuns(
  rows: readonly WaitingRow[],
  keyring: ProofKeys,
  failures: Map<string, unknown>,
): Promise<Map<string, Run[]>> {
  const sites = new Map<string, (Run & { readonly rows: WaitingRow[] })[]>();
  for (const row of rows) {
    const { siteId, stream } = row;
    if (failures.has(siteId)) continue;
    try {
      await refuseUnsealable(row, keyring);
    } catch (error) {
      failures.set(siteId, refusal(error));
      continue;
    }
    const runs = sites.get(siteId) ?? [];
    sites.set(siteId, runs);
    const current = runs.at(-1);
    const last = current?.rows.at(-1);
    if (current?.stream === stream && last !== undefined && row.revision === last.revision + last.count)
      current.rows.push(row);
    else runs.push({ siteId, stream, rows: [row] });
  }
  return sites;
}

/**
 * Returns whether a limit may have cut off events: a site used its whole share, or the bodies fill half of what is
 * allowed. Half, because the next row may have been too large to fit.
 */
function isNearLimit(rows: readonly WaitingRow[], sites: number, limits: PageLimits): boolean {
  const share = sharePerSite(limits, sites);
  const bySite = new Map<string, { events: number; bytes: number }>();
  let bytes = 0;
  for (const { siteId, count, events } of rows) {
    const site = bySite.get(siteId) ?? { events: 0, bytes: 0 };
    const size = events.reduce((sum, { data }) => sum + data.length, 0);
    bySite.set(siteId, { events: site.events + count, bytes: site.bytes + size });
    bytes += size;
  }
  if (bytes * 2 >= limits.maxBytes) return true;
  return [...bySite.values()].some((site) => site.events * 2 >= share || site.bytes * 2 >= limits.maxSiteBytes);
}

/**
 * Refuses events that cannot be sealed or that were altered after admission. The first would stop
 * the sealer for every site; the second would receive a time stamp.
 */
async function refuseUnsealable({ siteId, stream, events }: WaitingRow, keyring: ProofKeys): Promise<void> {
  for (const event of events) {
    if (!isSealedStream(stream) || siteOfStream(stream) !== siteId)
      throw new RefusedForGood(`event ${event.id} is addressed to stream ${stream}, which does not belong to the site`);
    try {
      await assertGenuine({ ...event, stream }, keyring);
    } catch (error) {
      if (!(error instanceof NotGenuine)) throw error;
      throw new RefusedForGood(error.message, { cause: error });
    }
  }
}
