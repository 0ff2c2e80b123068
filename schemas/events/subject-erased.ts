import * as z from 'zod';
import { Instant, Uuid } from '../evidence/primitives.js';

export const SUBJECT_ERASED = 'SubjectErased.v1';

export const ERASURE_REASONS = ['person', 'record', 'retention'] as const;

/**
 * The key of a record was destroyed. Announcements are collected, shuffled and appended at intervals, so neither their
 * order nor their times show which records were erased together.
 */
export const SubjectErasedRecord = z.strictObject({
  v: z.literal(1),
  event_id: Uuid,
  site_id: Uuid,
  /** Time of the announcement. The key was destroyed before. */
  created_at: Instant,
  reason: z.enum(ERASURE_REASONS),
  /** Event id of the erased record. */
  erased_event_id: Uuid,
});
export type SubjectErasedRecord = z.infer<typeof SubjectErasedRecord>;
