import type pg from 'pg';
import { v7 as uuidV7 } from 'uuid';
import { z } from 'zod';
import type { SubjectErasedRecord } from '../../schemas/events/subject-erased.js';
import { type BlindIndexKind, blindIndex, type Keyring } from '../keys/index.js';
import { UnknownSite } from './errors.js';
import { firstEventIdAt } from './event-id-times.js';

/** Whose data, or which, is to be erased. `before`: records older than this moment. */
export type ErasureSubject =
  | { readonly kind: BlindIndexKind; readonly value: string }
  | { readonly kind: 'record'; readonly eventId: string }
  | { readonly kind: 'retention'; readonly before: Date };

/** What an erasure looks for, without a personal value. */
export type ErasureTarget =
  | { readonly kind: 'person'; readonly index: BlindIndexKind; readonly value: Buffer }
  | { readonly kind: 'record'; readonly eventId: string }
  | { readonly kind: 'retention'; readonly belowEventId: string };

/** An erasure that is under way. */
export interface ErasureRequest {
  readonly id: string;
  readonly siteId: string;
  readonly target: ErasureTarget;
}

type Queryable = Pick<pg.Pool, 'query'>;

/**
 * Writes down what is to be erased, so that it is finished even if this process ends now.
 * @throws UnknownSite; KeyError
 */
export async function recordErasureRequest(
  db: Queryable,
  keyring: Pick<Keyring, 'siteKey'>,
  siteId: string,
  subject: ErasureSubject,
): Promise<ErasureRequest> {
  const { rowCount } = await db.query('select from sites where id = $1', [siteId]);
  if (rowCount !== 1) throw new UnknownSite(siteId);
  const request = { id: uuidV7(), siteId, target: await targetOf(keyring, siteId, subject) };
  const { target } = request;
  await db.query(
    `insert into erasure_requests (id, site_id, reason, index_kind, blind_index, event_id) values ($1, $2, $3, $4, $5, $6)`,
    [
      request.id,
      siteId,
      reasonOf(target),
      target.kind === 'person' ? target.index : null,
      target.kind === 'person' ? target.value : null,
      target.kind === 'record' ? target.eventId : target.kind === 'retention' ? target.belowEventId : null,
    ],
  );
  return request;
}

async function targetOf(
  keyring: Pick<Keyring, 'siteKey'>,
  siteId: string,
  subject: ErasureSubject,
): Promise<ErasureTarget> {
  switch (subject.kind) {
    case 'record':
      return subject;
    case 'retention':
      return { kind: 'retention', belowEventId: firstEventIdAt(subject.before) };
    default:
      return {
        kind: 'person',
        index: subject.kind,
        value: blindIndex(await keyring.siteKey(siteId), subject.kind, subject.value),
      };
  }
}

export function reasonOf(target: ErasureTarget): SubjectErasedRecord['reason'] {
  return target.kind;
}

const bytes = z.instanceof(Buffer);
const openRow = z
  .discriminatedUnion('reason', [
    z.object({
      id: z.string(),
      site_id: z.string(),
      reason: z.literal('person'),
      index_kind: z.enum(['visitor', 'email', 'phone', 'id_number']),
      blind_index: bytes,
    }),
    z.object({ id: z.string(), site_id: z.string(), reason: z.literal('record'), event_id: z.string() }),
    z.object({ id: z.string(), site_id: z.string(), reason: z.literal('retention'), event_id: z.string() }),
  ])
  .transform((row): ErasureRequest => {
    const { id, site_id: siteId } = row;
    switch (row.reason) {
      case 'person':
        return { id, siteId, target: { kind: 'person', index: row.index_kind, value: row.blind_index } };
      case 'record':
        return { id, siteId, target: { kind: 'record', eventId: row.event_id } };
      case 'retention':
        return { id, siteId, target: { kind: 'retention', belowEventId: row.event_id } };
    }
  });

const COLUMNS = 'id, site_id, reason, index_kind, blind_index, event_id';

/** The erasures that are not finished, oldest first. */
export async function openErasureRequests(db: Queryable): Promise<ErasureRequest[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from erasure_requests where finished_at is null order by requested_at, id`,
  );
  return z.array(openRow).parse(rows);
}

/** What an erasure did. */
export interface ErasureReceipt {
  readonly requestId: string;
  readonly siteId: string;
  readonly reason: SubjectErasedRecord['reason'];
  readonly requestedAt: Date;
  readonly finishedAt: Date;
  readonly erasedRecords: number;
  readonly deletedApprovalTokens: number;
  readonly cancelledExports: number;
  /** Ids of the `SubjectErased` events, oldest first; none if there was no record. */
  readonly eventIds: readonly string[];
}

const receiptRows = z
  .array(
    z.object({
      site_id: z.string(),
      reason: z.enum(['person', 'record', 'retention']),
      requested_at: z.date(),
      finished_at: z.date(),
      erased_count: z.int(),
      deleted_token_count: z.int(),
      cancelled_export_count: z.int(),
      event_ids: z.array(z.string()),
    }),
  )
  .max(1);

/** The receipt of a finished erasure; null if it is unknown or not finished. */
export async function erasureReceipt(db: Queryable, requestId: string): Promise<ErasureReceipt | null> {
  const { rows } = await db.query(
    `select site_id, reason, requested_at, finished_at, erased_count, deleted_token_count, cancelled_export_count,
            array(select e.event_id::text from erasure_events e where e.request_id = r.id order by e.event_id) as event_ids
       from erasure_requests r where id = $1 and finished_at is not null`,
    [requestId],
  );
  const [row] = receiptRows.parse(rows);
  if (row === undefined) return null;
  return {
    requestId,
    siteId: row.site_id,
    reason: row.reason,
    requestedAt: row.requested_at,
    finishedAt: row.finished_at,
    erasedRecords: row.erased_count,
    deletedApprovalTokens: row.deleted_token_count,
    cancelledExports: row.cancelled_export_count,
    eventIds: row.event_ids,
  };
}
