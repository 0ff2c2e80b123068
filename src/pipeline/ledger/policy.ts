import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import type { BatchSealedBody } from '../../../schemas/events/ledger.js';
import { LEDGER_KEY_ANNOUNCED, type LedgerKeyAnnouncedRecord } from '../../../schemas/events/ledger-key.js';
import {
  DEFAULT_POLICY_DELAYS,
  LEDGER_POLICY_SET,
  type LedgerPolicySetRecord,
  type OperatorStatements,
} from '../../../schemas/events/ledger-policy.js';
import { PublicEventBody } from '../../../schemas/events/notices.js';
import { InvalidEventBody, parseBody, parseRecord } from '../../../schemas/events/sealed-event.js';
import { POLICY_STREAM } from '../../../schemas/events/streams.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import type { Queryable } from '../../platform/database/pool.js';
import { AppendOutcomeUnknown, LogBehind, RevisionConflict } from '../event-log/errors.js';
import type { EventLog, NewEvent, StreamEvent } from '../event-log/port.js';
import type { Run } from './batch-rules.js';
import { joinFirstStamp } from './read-checkpoints.js';

const PAGE = 200;

/** Creates an event of the stream. */
function policyStreamEvent(type: string, record: LedgerPolicySetRecord | LedgerKeyAnnouncedRecord): NewEvent {
  const body: PublicEventBody = { record: canonicalJson(record) };
  return { id: record.event_id, type, data: utf8(canonicalJson(body)), metadata: new Uint8Array(0) };
}

/**
 * Appends an event to the stream `policy`, unless the stream needs none. Any number of processes may do
 * this concurrently: the expected revision lets one of them append. Each event is also stored in
 * PostgreSQL, from which a restored log can be filled.
 * @param db a handle in the role `consent_ledger_worker`
 * @param next returns the event that the stream needs, or null. It is called again after each attempt
 * @returns the stream as it was when it needed none
 * @throws LogBehind if the log ends before the stored events
 * @throws EventLogUnavailable, AppendRefused, database errors; the errors of `next`
 */
async function appendToPolicyStream(
  db: Queryable,
  eventLog: EventLog,
  next: (events: readonly StreamEvent[]) => Promise<NewEvent | null>,
): Promise<readonly StreamEvent[]> {
  for (;;) {
    const known = await storedRevision(db);
    const events = await readPolicyStream(eventLog);
    const end = events.length - 1;
    if (end < known) throw new LogBehind(POLICY_STREAM, known, end);
    await storePolicies(db, events.slice(known + 1));
    const event = await next(events);
    if (event === null) return events;
    try {
      await eventLog.append(POLICY_STREAM, end, [event]);
    } catch (error) {
      // The next round reads the stream: only its content is authoritative.
      if (!(error instanceof RevisionConflict || error instanceof AppendOutcomeUnknown)) throw error;
    }
  }
}

/** Reads the stream of policies and announcements from a revision on. @throws EventLogUnavailable */
export async function readPolicyStream(eventLog: EventLog, from = 0): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for (;;) {
    const page = await eventLog.readStream(POLICY_STREAM, from + events.length, PAGE);
    if (page.length === 0) return events;
    events.push(...page);
  }
}

async function storedRevision(db: Queryable): Promise<number> {
  const { rows } = await db.query('select coalesce(max(revision), -1) as revision from ledger_policies');
  return z.tuple([z.object({ revision: z.int() })]).parse(rows)[0].revision;
}

/** Stores events of the stream `policy` that the table lacks. */
export async function storePolicies(db: Queryable, events: readonly StreamEvent[]): Promise<void> {
  for (const { revision, id, type, data } of events) {
    await db.query(
      `insert into ledger_policies (revision, event_id, type, body) values ($1, $2, $3, $4)
       on conflict (revision) do nothing`,
      [revision, id, type, data],
    );
  }
}

/** The content of a policy, as configured. */
export interface PolicySettings {
  /** Largest delay from `created_at` of a record to `sealed_at` of its batch, in seconds. */
  readonly sealWithinSeconds: number;
  /** Largest delay from sealing to the time stamp, in seconds. */
  readonly stampWithinSeconds: number;
  /** Number of distinct time stamp authorities for each checkpoint; the default is 1. */
  readonly stamps?: number;
  /** One verifier-key line for each witness; the default is none. */
  readonly witnesses?: readonly string[];
  /** Number of witnesses that cosign each checkpoint; the default is 0. */
  readonly witnessesRequired?: number;
  /** What the operator states of itself and of the authorities; the default is nothing. */
  readonly stated?: OperatorStatements;
}

/**
 * Appends the configured policy to the stream `policy`, unless the newest policy there has the same
 * content.
 * @param db a handle in the role `consent_ledger_worker`
 * @param now time for `created_at` of the event
 * @returns number of the policy in force
 * @throws the errors of `appendToPolicyStream`; InvalidEventBody
 */
export async function ensurePolicySet(
  db: Queryable,
  eventLog: EventLog,
  settings: PolicySettings,
  now: () => Date | Promise<Date>,
): Promise<number> {
  const newestOf = (events: readonly StreamEvent[]) => events.flatMap((event) => policyOf(event) ?? []).at(-1);
  const events = await appendToPolicyStream(db, eventLog, async (events) => {
    const newest = newestOf(events);
    if (newest !== undefined && contentOf(newest) === canonicalJson(settingsRecord(settings))) return null;
    return policyEvent(settings, events.length + 1, await now());
  });
  return newestOf(events)?.number ?? 0;
}

type PolicyContent = Omit<LedgerPolicySetRecord, 'v' | 'event_id' | 'created_at' | 'number'>;

function settingsRecord(settings: PolicySettings): PolicyContent {
  return {
    seal_within_seconds: settings.sealWithinSeconds,
    stamp_within_seconds: settings.stampWithinSeconds,
    stamps: settings.stamps ?? 1,
    witnesses: [...new Set(settings.witnesses ?? [])].sort(),
    witnesses_required: settings.witnessesRequired ?? 0,
    tree_hash: 'sha256',
    ...settings.stated,
  };
}

function contentOf({ v: _v, event_id: _id, created_at: _at, number: _n, ...content }: LedgerPolicySetRecord): string {
  return canonicalJson(content);
}

function policyEvent(settings: PolicySettings, number: number, createdAt: Date): NewEvent {
  return policyStreamEvent(LEDGER_POLICY_SET, {
    v: 1,
    event_id: randomUUID(),
    created_at: createdAt.toISOString(),
    number,
    ...settingsRecord(settings),
  });
}

/** The policy of an event of this stream, or null for an announcement of keys. @throws InvalidEventBody */
function policyOf({ type, data }: StreamEvent): LedgerPolicySetRecord | null {
  if (type === LEDGER_KEY_ANNOUNCED) return null;
  return parseRecord(LEDGER_POLICY_SET, parseBody(PublicEventBody, type, data).record);
}

/** How many distinct authorities must stamp the next checkpoint, and why. */
export interface StampsDemanded {
  readonly authorities: number;
  /**
   * Number of the first policy with fewer stamps that is not in effect yet, or null if there is none. It takes effect
   * with the first checkpoint over it that has the number of authorities required before.
   */
  readonly waitingPolicy: number | null;
}

const BatchRows = z.array(z.object({ revision: z.int(), batch: z.int() }));
const CountRows = z.tuple([z.object({ authorities: z.int() })]);

/** Limit of time stamps that are read for a policy. The first checkpoint over it has enough of them. */
const MAX_TOKENS_READ = 1_000;

/**
 * Reads how many distinct authorities must stamp the next checkpoint. A policy with fewer `stamps` counts only after a
 * checkpoint that contains it has the stamps that were required before (docs/evidence-format.md §9, “A lowered number
 * of stamps”). The policies come from the log. Where they were sealed and who stamped them comes from tables. A row
 * that is wrong for a moment can only complete one checkpoint too early or too late, and the next checkpoint, which is
 * decided afresh, covers everything before it.
 * @param configured number of authorities that the configuration requires
 * @throws InvalidEventBody, EventLogUnavailable, database errors
 */
export async function readStampsDemanded(
  db: Queryable,
  eventLog: EventLog,
  configured: number,
): Promise<StampsDemanded> {
  const { rows } = await db.query('select revision, batch from leaves where stream = $1', [POLICY_STREAM]);
  const batches = new Map(BatchRows.parse(rows).map(({ revision, batch }) => [revision, batch]));
  let demanded = 1;
  let waitingPolicy: number | null = null;
  for (const event of await readPolicyStream(eventLog)) {
    const policy = policyOf(event);
    if (policy === null) continue;
    const { stamps, number } = policy;
    const batch = batches.get(event.revision);
    const isLowered = stamps < demanded;
    if (!isLowered || (batch !== undefined && (await countAuthorities(db, batch)) >= demanded)) {
      demanded = stamps;
      waitingPolicy = null;
    } else waitingPolicy ??= number;
  }
  return { authorities: Math.max(configured, demanded), waitingPolicy };
}

/** Number of distinct authorities whose time stamps over stamped checkpoints cover a batch. */
async function countAuthorities(db: Queryable, batch: number): Promise<number> {
  const { rows } = await db.query(
    `select count(distinct organization) as authorities from (
       select t.organization from checkpoint_tokens t join checkpoints c on c.size = t.size
        where t.size > $1 order by t.size limit $2) as covering`,
    [batch, MAX_TOKENS_READ],
  );
  return CountRows.parse(rows)[0].authorities;
}

/** How long the service may wait, in milliseconds, and still keep every policy that counts. */
export interface PolicyPace {
  /** Longest time from the first event of a batch to its sealing. */
  readonly sealMs: number;
  /** Longest time from one time stamp to the next. */
  readonly stampMs: number;
  /** Whether only the newest policy decides. It then decides until another one is published. */
  readonly isSettled: boolean;
}

/** A published policy, and the `created_at` from which verifiers apply it to records. */
export interface PublishedPolicy {
  readonly sealWithinSeconds: number;
  readonly stampWithinSeconds: number;
  /**
   * When the first time stamp of the policy was stored, in milliseconds since 1970, or null if it is not stamped yet.
   */
  readonly stampedAt: number | null;
}

/**
 * How much the clocks of the authorities and of the service may differ, in milliseconds (docs/evidence-format.md §9).
 */
const CLOCK_TOLERANCE_MS = 300_000;

/**
 * Computes the pace of sealing and stamping. A policy with longer delays applies to a record only if its time stamp is
 * earlier than the record (docs/evidence-format.md §9, “The ledger's policy”). Until all older records are due to be
 * stamped, the service therefore keeps the previous delays as well. Half of each delay is left for the work itself.
 * @param policies the policies in the order of their stream
 * @param now milliseconds since 1970
 */
export function policyPace(policies: readonly PublishedPolicy[], now: number): PolicyPace {
  let seal = Number.POSITIVE_INFINITY;
  let stamp = Number.POSITIVE_INFINITY;
  let isSettled = true;
  const before: PublishedPolicy = { ...DEFAULT_POLICY_DELAYS, stampedAt: Number.NEGATIVE_INFINITY };
  const all = [before, ...policies];
  for (let i = all.length - 1; i >= 0; i--) {
    const policy = all[i] ?? before;
    seal = Math.min(seal, policy.sealWithinSeconds);
    stamp = Math.min(stamp, policy.stampWithinSeconds);
    const previous = all[i - 1] ?? before;
    const olderRecordsMs = (previous.sealWithinSeconds + previous.stampWithinSeconds) * 1000;
    if (policy.stampedAt !== null && policy.stampedAt + CLOCK_TOLERANCE_MS + olderRecordsMs <= now) break;
    isSettled = false;
  }
  return { sealMs: seal * 500, stampMs: stamp * 500, isSettled };
}

/**
 * Reads the published policies and computes the pace from them. Tables suffice, because the pace only decides how long
 * to wait, never what is appended.
 * @param db a handle in the role `consent_ledger_worker`
 * @param now milliseconds since 1970
 * @throws InvalidEventBody, database errors
 */
export async function readPolicyPace(db: Queryable, now: number): Promise<PolicyPace> {
  const { rows } = await db.query(
    `select p.body, stamp.stamped_at
       from ledger_policies p
       left join leaves l on l.stream = $1 and l.revision = p.revision
       ${joinFirstStamp('l.batch', 'stamped_at', 'stamp')}
      where p.type = $2
      order by p.revision`,
    [POLICY_STREAM, LEDGER_POLICY_SET],
  );
  const policies = PolicyRows.parse(rows).map(({ body, stamped_at: stampedAt }): PublishedPolicy => {
    const record = parseRecord(LEDGER_POLICY_SET, parseBody(PublicEventBody, LEDGER_POLICY_SET, body).record);
    return {
      sealWithinSeconds: record.seal_within_seconds,
      stampWithinSeconds: record.stamp_within_seconds,
      stampedAt: stampedAt?.getTime() ?? null,
    };
  });
  return policyPace(policies, now);
}

const PolicyRows = z.array(z.object({ body: z.instanceof(Uint8Array), stamped_at: z.date().nullable() }));

/**
 * Appends the announcement of the ledger's next keys to the stream `policy`, unless it is there. Any number
 * of processes may do this concurrently.
 * @param db a handle in the role `consent_ledger_worker`
 * @param keys verifier-key lines of Ed25519 and ML-DSA-44, of keys that are stored already
 * @param now time for `created_at` of the event
 * @throws the errors of `appendToPolicyStream`; InvalidEventBody
 */
export async function announceLedgerKey(
  db: Queryable,
  eventLog: EventLog,
  keys: readonly string[],
  now: () => Date | Promise<Date>,
): Promise<void> {
  await appendToPolicyStream(db, eventLog, async (events) => {
    const isThere = events.some((event) => announcedBy(event)?.keys[0] === keys[0]);
    if (isThere) return null;
    return policyStreamEvent(LEDGER_KEY_ANNOUNCED, {
      v: 1,
      event_id: randomUUID(),
      created_at: (await now()).toISOString(),
      keys: [...keys],
    });
  });
}

/**
 * Reads the announcement of keys among the events of a batch, as the event of the batch states it.
 * @param runs the runs of the batch
 * @throws InvalidEventBody if it is malformed, or the batch has two; RevisionGap, EventLogUnavailable
 */
export async function readAnnounced(eventLog: EventLog, runs: readonly Run[]): Promise<BatchSealedBody['announced']> {
  const run = runs.find(([stream]) => stream === POLICY_STREAM);
  if (run === undefined) return undefined;
  const [, first, last] = run;
  let found: BatchSealedBody['announced'];
  for (let next = first; next <= last; ) {
    const page = await eventLog.readStream(POLICY_STREAM, next, last - next + 1);
    if (page.length === 0) throw new InvalidEventBody(`${POLICY_STREAM} has no revision ${next}`);
    for (const event of page) {
      const record = announcedBy(event);
      if (record === null) continue;
      const [key, mlDsaKey, ...more] = record.keys;
      if (found !== undefined || key === undefined || mlDsaKey === undefined || more.length > 0)
        throw new InvalidEventBody(`${POLICY_STREAM}, revision ${event.revision}: these keys cannot follow`);
      found = { revision: event.revision, key, ml_dsa_key: mlDsaKey };
    }
    next += page.length;
  }
  return found;
}

function announcedBy({ type, data }: StreamEvent): LedgerKeyAnnouncedRecord | null {
  if (type !== LEDGER_KEY_ANNOUNCED) return null;
  return parseRecord(LEDGER_KEY_ANNOUNCED, parseBody(PublicEventBody, type, data).record);
}
