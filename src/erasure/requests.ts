import { v7 as uuidV7 } from 'uuid';
import * as z from 'zod';
import type { SubjectErasedRecord } from '../../schemas/events/subject-erased.js';
import { type Actor, appendAuditEntry } from '../platform/audit-log.js';
import { type Queryable, withTransaction } from '../platform/database/pool.js';
import { firstEventIdAt } from '../platform/event-ids.js';
import {
  type BlindIndexKind,
  blindIndex,
  hmacSha256,
  type Keyring,
  type RowSeals,
  SealedBytes,
  sealedRows,
} from '../platform/keys/index.js';
import { UnknownSite } from './journal.js';

/** What to erase: the records of a person, one record, or (`before`) all records older than a time. */
export type ErasureSubject =
  | { readonly kind: BlindIndexKind; readonly value: string }
  | { readonly kind: 'record'; readonly eventId: string }
  | { readonly kind: 'retention'; readonly before: Date };

/** The public name of each kind of identifier: the field of a consent. */
export const IDENTIFIERS = {
  visitor: 'visitor_id',
  email: 'signer_email',
  phone: 'signer_phone',
  id_number: 'signer_id_number',
} as const satisfies Readonly<Record<BlindIndexKind, string>>;
/** The blind index of each identifier. */
export const IDENTIFIER_KINDS = {
  visitor_id: 'visitor',
  signer_email: 'email',
  signer_phone: 'phone',
  signer_id_number: 'id_number',
} as const;

/** The criterion of an erasure, as the API and the audit log name it. */
function nameOfSubject(kind: ErasureSubject['kind']): string {
  if (kind === 'record') return 'record';
  return kind === 'retention' ? 'age' : IDENTIFIERS[kind];
}

/** The target of an erasure, without a personal value. */
export type ErasureTarget =
  | { readonly kind: 'person'; readonly index: BlindIndexKind; readonly value: Buffer }
  | { readonly kind: 'record'; readonly eventId: string }
  | { readonly kind: 'retention'; readonly belowEventId: string };

/** SQL condition for `Looks`: true if there is an unfinished erasure. */
export const ERASURE_WAITS = 'exists (select from erasure_requests where finished_at is null)';

/** An unfinished erasure. */
export interface ErasureRequest {
  readonly id: string;
  readonly siteId: string;
  readonly target: ErasureTarget;
}

/** Origins of a request; `service` stands for the retention period. */
export const ERASURE_CHANNELS = ['panel', 's2s', 'operator', 'service'] as const;
export type ErasureChannel = (typeof ERASURE_CHANNELS)[number];

/** A request to erase. */
export interface ErasureOrder {
  readonly siteId: string;
  readonly by: ErasureSubject;
  readonly channel: ErasureChannel;
  /**
   * A random key. A repeated order with the same key is the same erasure, and a different order with the same key is
   * another erasure.
   */
  readonly idempotencyKey?: string | undefined;
}

/** A recorded request. @param isNew false if it was recorded before */
export interface RecordedOrder {
  readonly request: ErasureRequest;
  readonly isNew: boolean;
}

type SiteKeys = Pick<Keyring, 'siteKey'>;

/**
 * Records an erasure request, so that it is finished even if this process ends. No personal value
 * is stored: for a person, only the blind index until the erasure is finished.
 * @param db a handle in the role `consent_ledger_api`, `consent_ledger_admin` or `consent_ledger_worker`
 * @throws UnknownSite; KeyError
 */
export async function recordErasureRequest(
  db: Queryable,
  keyring: SiteKeys,
  { siteId, by, channel, idempotencyKey }: ErasureOrder,
): Promise<RecordedOrder> {
  const { rowCount } = await db.query('select from sites where id = $1', [siteId]);
  if (rowCount !== 1) throw new UnknownSite(siteId);
  const siteKey = await keyring.siteKey(siteId);
  const target = targetOf(siteKey, by);
  const digest = idempotencyKey === undefined ? null : requestDigest(siteKey, channel, idempotencyKey, target);
  const id = uuidV7();
  // A transaction seals the row.
  return withTransaction(db, async (db) => {
    const inserted = await db.query(
      `insert into erasure_requests (id, site_id, channel, request_digest, reason, index_kind, blind_index, event_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (request_digest) where request_digest is not null do nothing`,
      [
        id,
        siteId,
        channel,
        digest,
        reasonOf(target),
        target.kind === 'person' ? target.index : null,
        target.kind === 'person' ? target.value : null,
        target.kind === 'record' ? target.eventId : target.kind === 'retention' ? target.belowEventId : null,
      ],
    );
    if (inserted.rowCount === 1) return { request: { id, siteId, target }, isNew: true };
    return { request: { id: await earlierRequest(db, digest), siteId, target }, isNew: false };
  });
}

/**
 * Records an order and, if it is new, its audit entry, in one transaction.
 * @throws UnknownSite; KeyError; database errors
 */
export function orderErasure(
  db: Queryable,
  keyring: SiteKeys,
  order: ErasureOrder,
  actor: Actor,
): Promise<RecordedOrder> {
  return withTransaction(db, async (db) => {
    const recorded = await recordErasureRequest(db, keyring, order);
    if (!recorded.isNew) return recorded;
    const { rows } = await db.query('select tenant_id from sites where id = $1', [order.siteId]);
    const [{ tenant_id: tenantId }] = z.tuple([z.object({ tenant_id: z.string() })]).parse(rows);
    await appendAuditEntry(db, { tenantId, actor, action: ERASURE_ACTION, ...auditOf(recorded, order) });
    return recorded;
  });
}

/** Action of the audit log for an erasure request. */
export const ERASURE_ACTION = 'erasure.create';

/** Returns the audit entry of an order. For a person, the entry only names the kind of identifier. */
export function auditOf({ request, isNew }: RecordedOrder, { siteId, by }: ErasureOrder) {
  return {
    subject: { kind: 'erasure', id: request.id },
    details: {
      site_id: siteId,
      by: nameOfSubject(by.kind),
      is_repeated: !isNew,
      ...(by.kind === 'record' && { event_id: by.eventId }),
      ...(by.kind === 'retention' && { before: by.before.toISOString() }),
    },
  };
}

/** Returns the target of a subject: for a person, only the blind index. */
export function targetOf(siteKey: Uint8Array, subject: ErasureSubject): ErasureTarget {
  switch (subject.kind) {
    case 'record':
      return subject;
    case 'retention':
      return { kind: 'retention', belowEventId: firstEventIdAt(subject.before) };
    default:
      return { kind: 'person', index: subject.kind, value: blindIndex(siteKey, subject.kind, subject.value) };
  }
}

/**
 * Returns the digest of key and target together. Neither can be guessed from it as long as the caller's keys are
 * random.
 */
export function requestDigest(
  siteKey: Uint8Array,
  channel: ErasureChannel,
  key: string,
  target: ErasureTarget,
): Buffer {
  const [kind, value] =
    target.kind === 'person'
      ? [target.index, target.value.toString('hex')]
      : [target.kind, target.kind === 'record' ? target.eventId : target.belowEventId];
  return hmacSha256(siteKey, `erasure\0${channel}\0${key}\0${kind}\0${value}`);
}

async function earlierRequest(db: Queryable, digest: Buffer | null): Promise<string> {
  const { rows } = await db.query('select id from erasure_requests where request_digest = $1', [digest]);
  const [{ id }] = z.tuple([z.object({ id: z.string() })]).parse(rows);
  return id;
}

/** Returns the reason that the log states: the kind of the request, without a reference to a person. */
export function reasonOf(target: ErasureTarget): SubjectErasedRecord['reason'] {
  return target.kind;
}

const OpenRow = z.discriminatedUnion('reason', [
  z.object({
    id: z.string(),
    site_id: z.string(),
    reason: z.literal('person'),
    index_kind: z.enum(['visitor', 'email', 'phone', 'id_number']),
    blind_index: SealedBytes,
  }),
  z.object({ id: z.string(), site_id: z.string(), reason: z.literal('record'), event_id: z.string() }),
  z.object({ id: z.string(), site_id: z.string(), reason: z.literal('retention'), event_id: z.string() }),
]);

function requestOf(row: z.infer<typeof OpenRow>): ErasureRequest {
  const { id, site_id: siteId } = row;
  switch (row.reason) {
    case 'person':
      return { id, siteId, target: { kind: 'person', index: row.index_kind, value: row.blind_index } };
    case 'record':
      return { id, siteId, target: { kind: 'record', eventId: row.event_id } };
    case 'retention':
      return { id, siteId, target: { kind: 'retention', belowEventId: row.event_id } };
  }
}

/**
 * Reads the unfinished erasures, oldest first. Altered rows are left out, so that write access to the database is not
 * enough to have anything erased.
 */
export async function openErasureRequests(db: Queryable, seals: RowSeals): Promise<ErasureRequest[]> {
  const where = 'finished_at is null order by requested_at, id';
  const rows = await sealedRows(db, { table: 'erasure_requests', where, values: [] });
  const opened = await Promise.all(rows.map((row) => seals.open(row, OpenRow)));
  return opened.flatMap((row) => (row === null ? [] : [requestOf(row)]));
}
