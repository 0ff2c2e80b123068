import { randomUUID } from 'node:crypto';
import { LEDGER_KEY_ANNOUNCED } from '../../../schemas/events/ledger-key.js';
import { LEDGER_POLICY_SET, type LedgerPolicySetRecord } from '../../../schemas/events/ledger-policy.js';
import { PublicEventBody } from '../../../schemas/events/notices.js';
import { parseBody, parseRecord } from '../../../schemas/events/sealed-event.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EventLog, NewEvent, StreamEvent } from '../event-log/port.js';
import { appendToPolicyStream, policyStreamEvent } from './policy-stream.js';

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

/**
 * Appends the configured policy to the stream `policy`, unless the newest policy there has the same
 * content.
 * @param db in the role `consent_ledger_worker`
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
    if (newest !== undefined && contentOf(newest) === contentOf(settingsRecord(settings))) return null;
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
  return policyStreamEvent(LEDGER_POLICY_SET, {
    v: 1,
    event_id: randomUUID(),
    created_at: createdAt.toISOString(),
    number,
    ...settingsRecord(settings),
  });
}

/** The policy of an event of this stream; null for an announcement of keys. @throws InvalidEventBody */
export function policyOf({ type, data }: StreamEvent): LedgerPolicySetRecord | null {
  if (type === LEDGER_KEY_ANNOUNCED) return null;
  return parseRecord(LEDGER_POLICY_SET, parseBody(PublicEventBody, type, data).record);
}
