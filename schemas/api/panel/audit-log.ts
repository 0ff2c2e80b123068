import { z } from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { InputTime, QueryText } from '../common.js';
import { PageQuery, Timestamp } from './common.js';

/** A line of the audit log. It names data subjects by event id only. */
export const AuditLogEntry = z
  .object({
    seq: z.int().describe('Number of the entry, in order of time.'),
    at: Timestamp,
    actor: z.object({
      kind: z.enum(['user', 'operator', 'service']),
      user_id: Uuid.nullable().describe('The user; null for other actors.'),
    }),
    action: z.string().describe('What was done, for example `site.create`.'),
    subject: z.object({ kind: z.string(), id: z.string() }),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AuditLogEntry' });

export const AuditLogQuery = PageQuery.extend({
  action: z
    .string()
    .max(100)
    .regex(/^[a-z_]+\.[a-z_]+$/)
    .optional(),
  actor_user_id: Uuid.optional(),
  subject_id: QueryText.max(200).optional(),
  from: InputTime.optional().describe('Only entries at or after this time.'),
  to: InputTime.optional().describe('Only entries before this time.'),
});
