import * as z from 'zod';
import { CANONICAL_DIGITS, numberInUrl } from './common.js';
import { ExportQuery } from './export.js';
import { TEST_MEMBER } from './test-mark.js';

export const MAX_TEST_EVENTS = 100;

/** GET /tool/v1/test-events. */
export const TestEventsQuery = z.strictObject({
  limit: numberInUrl(1, MAX_TEST_EVENTS, 'must be a whole number from 1 to 100', CANONICAL_DIGITS)
    .optional()
    .describe('Most events of the response; 100 if absent.'),
  cursor: ExportQuery.shape.cursor.describe('`next_cursor` of the response before. Absent: no events but later ones.'),
});

/** The message that a webhook would get. */
export const TestEvent = z
  .object({
    id: z.string().max(100).describe('Value of the header `webhook-id`.'),
    type: z
      .enum(['consent.recorded', 'consent.withdrawn', 'consent.erased', 'objection.recorded', 'objection.ended'])
      .describe('What happened.'),
    body: z.string().describe('The body, JSON: the exact text to sign.'),
  })
  .meta({ id: 'TestEvent' });
export type TestEvent = z.infer<typeof TestEvent>;

export const TestEventsResponse = z
  .object({
    data: z.array(TestEvent).max(MAX_TEST_EVENTS).describe('The result.'),
    next_cursor: z.string().describe('Cursor of the next request, also if there are no further events yet.'),
    ...TEST_MEMBER,
  })
  .meta({ id: 'TestEventsResponse' });
export type TestEventsResponse = z.infer<typeof TestEventsResponse>;
