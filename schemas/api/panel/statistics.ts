import * as z from 'zod';
import { ConsentRecordV2 } from '../../events/consent-recorded.js';
import { Uuid } from '../../evidence/primitives.js';
import { InputDate, InputUuid } from '../common.js';
import { dataOf, Timestamp } from './common.js';

/** Longest period of the statistics, in days. */
export const MAX_STATISTICS_DAYS = 92;

export const ConsentStatisticsQuery = z.strictObject({
  site_id: InputUuid.optional().describe('Only this site; by default, all sites of the tenant.'),
  consent_type: ConsentRecordV2.shape.consent_type.optional().describe('Only consents of this kind.'),
  from: InputDate.optional().describe('First day (UTC), by default the 29th day before `to`.'),
  to: InputDate.optional().describe('Last day (UTC), by default today. The period has at most 92 days.'),
});

const Counts = z.object({
  accepted: z.int().describe('Number of decisions that accept.'),
  partial: z.int().describe('Number of decisions that accept some of the categories.'),
  rejected: z.int().describe('Number of decisions that refuse.'),
  withdrawn: z.int().describe('Number of withdrawals.'),
  total: z.int().describe('Number of all decisions.'),
});

export const ConsentStatistics = z
  .object({
    from: z.iso.date().describe('Start of the period.'),
    to: z.iso.date().describe('End of the period.'),
    time_zone: z.literal('UTC').describe('Time zone of the days.'),
    days: z
      .array(Counts.extend({ day: z.iso.date().describe('Day in UTC.') }))
      .describe('Every day of the period in order, also days without a consent.'),
    totals: Counts.describe('Sums of the period.'),
    imported: z.int().describe('Imported consents; in no other number.'),
    opt_outs: z.int().describe('Opt-outs and their ends; in no other number.'),
    objections: z.int().describe('Objections and their ends; in no other number.'),
    acceptance_rate: z
      .number()
      .nullable()
      .describe(
        'Share of `accepted` among accepted, partial and rejected decisions without opt-outs and objections, 0 to 1, or null if there are none.',
      ),
    sites: z
      .array(
        z.object({
          site_id: Uuid.describe('The site.'),
          total: z.int().describe('Number of all decisions.'),
          idempotency_conflicts: z
            .int()
            .describe('Idempotency keys that were used with another body in the last 30 days.'),
        }),
      )
      .describe('The sites of the count.'),
  })
  .meta({ id: 'ConsentStatistics' });
export const ConsentStatisticsResponse = dataOf(ConsentStatistics);

/** What the decisions of a month can be counted by. Personal values are not among them: nobody can count these. */
export const BREAKDOWNS = ['type', 'category', 'language', 'framework', 'channel', 'version'] as const;

/** A count that is smaller is not shown. */
export const SMALLEST_COUNT = 10;

export const BreakdownQuery = z.strictObject({
  by: z.enum(BREAKDOWNS).default('type').describe('What the rows are; `version`: the number of the configuration.'),
  month: z
    .string()
    .regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a month, for example 2026-03')
    .refine((text) => !text.startsWith('0000'), 'must be in the years 1 to 9999')
    .optional()
    .describe('A month (UTC) that is over; by default, the last one.'),
});

const Cell = z
  .union([z.int().min(SMALLEST_COUNT), z.enum(['fewer_than_10', 'not_shown'])])
  .describe('`not_shown`: 10 or more, but with it one below 10 could be calculated.')
  .meta({ id: 'CountOrHidden' });

export const ConsentBreakdown = z
  .object({
    month: z.string().describe('The month.'),
    by: z.enum(BREAKDOWNS).describe('The rows.'),
    rows: z
      .array(
        z.object({
          value: z.string().describe('The value that the decisions have in common.'),
          accepted: Cell,
          partial: Cell.nullable().describe('Null by category.'),
          rejected: Cell,
          withdrawn: Cell.nullable().describe('Null by category.'),
          acceptance_rate: z
            .number()
            .nullable()
            .describe('As in the statistics, or null if a number is hidden or there is no such rate.'),
        }),
      )
      .describe('By value.'),
  })
  .meta({ id: 'ConsentBreakdown' });
export const ConsentBreakdownResponse = dataOf(ConsentBreakdown);

/** Conditions that a tenant should know about, in the order of lists. */
export const ALARM_KINDS = [
  'row_altered',
  'site_quarantined',
  'stamp_overdue',
  'domain_proof_failing',
  'plan_inactive',
  'quota_used_up',
] as const;

export const Alarm = z
  .object({
    kind: z
      .enum(ALARM_KINDS)
      .describe(
        'row_altered: the stored row of the site or of the plan was altered outside the service, which does not use it. site_quarantined: records of the site wait until the operator acts. stamp_overdue: a consent has no time stamp although the policy of the ledger demands one. domain_proof_failing: the proof of the domain is missing. plan_inactive, quota_used_up: consents are refused.',
      ),
    site_id: Uuid.nullable().describe('The site concerned, or null if it is the whole tenant.'),
    since: Timestamp.nullable().describe('Since when the condition lasts, if that is known.'),
  })
  .meta({ id: 'Alarm' });
export const AlarmsResponse = dataOf(z.array(Alarm).describe('The result.'));
