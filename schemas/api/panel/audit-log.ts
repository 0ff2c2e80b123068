import { z } from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { InputTime, QueryText } from '../common.js';
import { PageQuery, Timestamp } from './common.js';

/** A line of the audit log. It names data subjects by event id only. */
export const AuditLogEntry = z.object({
  /** Grows with time. */
  seq: z.int(),
  at: Timestamp,
  actor: z.object({
    kind: z.enum(['user', 'operator', 'service']),
    /** Of a user; null for others. */
    user_id: Uuid.nullable(),
  }),
  /** `<subject>.<verb>`, e.g. `site.create`. */
  action: z.string(),
  subject: z.object({ kind: z.string(), id: z.string() }),
  details: z.record(z.string(), z.json()),
});

export const AuditLogQuery = PageQuery.extend({
  action: z
    .string()
    .max(100)
    .regex(/^[a-z_]+\.[a-z_]+$/)
    .optional(),
  actor_user_id: Uuid.optional(),
  subject_id: QueryText.max(200).optional(),
  /** Inclusive. */
  from: InputTime.optional(),
  /** Exclusive. */
  to: InputTime.optional(),
});
