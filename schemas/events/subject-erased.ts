import { z } from 'zod';
import { Instant, Uuid } from '../evidence/primitives.js';

export const SUBJECT_ERASED = 'SubjectErased.v1';

/** Records in one erasure event, and in the Postgres transaction that goes with it. */
export const MAX_ERASED_RECORDS = 1000;

export const ERASURE_REASONS = ['person', 'record', 'retention'] as const;

/**
 * The keys of these records were destroyed. It shows that the records were erased together, never
 * whose they are.
 */
export const SubjectErasedRecord = z.strictObject({
  v: z.literal(1),
  event_id: Uuid,
  site_id: Uuid,
  created_at: Instant,
  reason: z.enum(ERASURE_REASONS),
  /** Event ids of the erased records, sorted. */
  erased_event_ids: z.array(Uuid).min(1).max(MAX_ERASED_RECORDS),
});
export type SubjectErasedRecord = z.infer<typeof SubjectErasedRecord>;
