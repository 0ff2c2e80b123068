import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import { LEDGER_POLICY_SET, type LedgerPolicySetRecord } from '../../../schemas/events/ledger-policy.js';
import { PublicEventBody } from '../../../schemas/events/notices.js';
import { parseBody, parseRecord } from '../../../schemas/events/sealed-event.js';
import { POLICY_STREAM } from '../../../schemas/events/streams.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import type { Queryable } from '../../platform/database/pool.js';
import { AppendOutcomeUnknown, LogBehind, RevisionConflict } from '../event-log/errors.js';
import type { EventLog, NewEvent, StreamEvent } from '../event-log/port.js';

/** The content of a policy, as configured. */
export interface PolicySettings {
  /** Largest delay from `created_at` of a record to `sealed_at` of its batch, in seconds. */
  readonly sealWithinSeconds: number;
  /** Largest delay from there to the time stamp, in seconds. */
  readonly stampWithinSeconds: number;
  /** Number of distinct time stamp authorities for each checkpoint; the default is 1. */
  readonly stamps?: number;
  /** One verifier-key line of each witness; the default is none. */
  readonly witnesses?: readonly string[];
  /** Number of witnesses that cosign each checkpoint; the default is 0. */
  readonly witnessesRequired?: number;
}

const PAGE = 200;

/**
 * Appends the configured policy to the stream `policy`, unless the newest policy there has the same
 * content. Any number of processes may do this concurrently: the expected revision lets one of them
 * append. Each event is also stored in PostgreSQL, from which a restored log can be filled.
 * @param db in the role `consent_ledger_worker`
 * @param now time for `created_at` of the event
 * @returns number of the policy in force
 * @throws LogBehind if the log ends before the stored events
 * @throws EventLogUnavailable, AppendRefused, InvalidEventBody, database errors
 */
export async function ensurePolicySet(
  db: Queryable,
  eventLog: EventLog,
  settings: PolicySettings,
  now: () => Date | Promise<Date>,
): Promise<number> {
  for (;;) {
    const known = await storedRevision(db);
    const events = await readPolicyStream(eventLog);
    const end = events.length - 1;
    if (end < known) throw new LogBehind(POLICY_STREAM, known, end);
    await store(db, events.slice(known + 1));
    const newest = events.at(-1);
    const record = newest === undefined ? null : policyOf(newest);
    if (record !== null && contentOf(record) === contentOf(settingsRecord(settings))) return record.number;
    const event = policyEvent(settings, events.length + 1, await now());
    try {
      await eventLog.append(POLICY_STREAM, end, [event]);
    } catch (error) {
      // The next round reads the stream: only its content is authoritative.
      if (!(error instanceof RevisionConflict || error instanceof AppendOutcomeUnknown)) throw error;
    }
  }
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
  };
}

function contentOf(content: PolicyContent): string {
  const { seal_within_seconds, stamp_within_seconds, stamps, witnesses, witnesses_required, tree_hash } = content;
  return canonicalJson({
    seal_within_seconds,
    stamp_within_seconds,
    stamps,
    witnesses,
    witnesses_required,
    tree_hash,
  });
}

function policyEvent(settings: PolicySettings, number: number, createdAt: Date): NewEvent {
  const id = randomUUID();
  const record: LedgerPolicySetRecord = {
    v: 1,
    event_id: id,
    created_at: createdAt.toISOString(),
    number,
    ...settingsRecord(settings),
  };
  const body: PublicEventBody = { record: canonicalJson(record) };
  return { id, type: LEDGER_POLICY_SET, data: utf8(canonicalJson(body)), metadata: new Uint8Array(0) };
}

/** The record of an event of this stream. @throws InvalidEventBody */
export function policyOf({ type, data }: StreamEvent): LedgerPolicySetRecord {
  return parseRecord(LEDGER_POLICY_SET, parseBody(PublicEventBody, type, data).record);
}

/** Reads the stream of policies. @throws EventLogUnavailable */
export async function readPolicyStream(eventLog: EventLog): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for (;;) {
    const page = await eventLog.readStream(POLICY_STREAM, events.length, PAGE);
    if (page.length === 0) return events;
    events.push(...page);
  }
}

async function storedRevision(db: Queryable): Promise<number> {
  const { rows } = await db.query('select coalesce(max(revision), -1) as revision from ledger_policies');
  return z.tuple([z.object({ revision: z.int() })]).parse(rows)[0].revision;
}

async function store(db: Queryable, events: readonly StreamEvent[]): Promise<void> {
  for (const { revision, id, type, data } of events) {
    await db.query(
      `insert into ledger_policies (revision, event_id, type, body) values ($1, $2, $3, $4)
       on conflict (revision) do nothing`,
      [revision, id, type, data],
    );
  }
}
