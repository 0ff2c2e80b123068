import * as z from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { InputTime, InputUuid, QueryText } from '../common.js';
import { PageQuery, Timestamp } from './common.js';

/** A line of the audit log. It names data subjects by event id only. */
export const AuditLogEntry = z
  .object({
    seq: z.int().describe('Number of the entry, in order of time.'),
    at: Timestamp.describe('When it was done.'),
    actor: z
      .object({
        kind: z.enum(['user', 'operator', 'service']).describe('Kind of the actor.'),
        user_id: Uuid.nullable().describe('The user, or null for other actors.'),
      })
      .describe('Who did it.'),
    action: z.string().describe('What was done, for example `site.create`.'),
    subject: z
      .object({
        kind: z.string().describe('Kind of the object.'),
        id: z.string().describe('Identifier of the object.'),
      })
      .describe('The object that it was done to.'),
    details: z.record(z.string(), z.unknown()).describe('Further facts, without personal values of visitors.'),
  })
  .meta({ id: 'AuditLogEntry' });

export const AuditLogQuery = PageQuery.extend({
  action: z
    .string()
    .max(100)
    .regex(/^[a-z_]+\.[a-z_]+$/)
    .optional()
    .describe('Only entries with this action, for example `site.create`.'),
  actor_user_id: InputUuid.optional().describe('Only entries of this user.'),
  subject_id: QueryText.max(200).optional().describe('Only entries on the object with this id.'),
  from: InputTime.optional().describe('Only entries at or after this time.'),
  to: InputTime.optional().describe('Only entries before this time.'),
});
