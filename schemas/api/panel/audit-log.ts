import * as z from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { InputTime, InputUuid, QueryText } from '../common.js';
import { displayName, PageQuery, pageOf, Timestamp } from './common.js';
import { NamedThing } from './named-things.js';

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

const Names = (max: number) => z.array(z.string().max(100)).max(max).default([]);

/** A word, and what the caller's language calls so. */
const Word = z.strictObject({
  text: displayName(100).min(1).describe('The word, in any case.'),
  actions: Names(200).describe('Actions that have the word in your language.'),
  kinds: Names(50).describe('Kinds of objects that have it.'),
});

export const SearchAuditLogRequest = z
  .strictObject({
    from: AuditLogQuery.shape.from,
    to: AuditLogQuery.shape.to,
    action: AuditLogQuery.shape.action,
    actor: z
      .union([z.enum(['operator', 'service']), InputUuid])
      .optional()
      .describe('Who acted: a user (UUID), operators, or the service.'),
    site_id: InputUuid.optional().describe('Only entries on this site and what belongs to it.'),
    words: z
      .array(Word)
      .max(8)
      .default([])
      .describe('Each word occurs in the action, the object, the details, or a name of these.'),
    limit: z.int().min(1).max(500).default(50).describe('Items on the page, by default 50.'),
    cursor: PageQuery.shape.cursor,
  })
  .meta({ id: 'SearchAuditLogRequest' });

export const AuditLogSearchPage = pageOf(AuditLogEntry)
  .extend({ named: z.array(NamedThing).describe('The things that the entries name and that exist.') })
  .meta({ id: 'AuditLogSearchPage' });
