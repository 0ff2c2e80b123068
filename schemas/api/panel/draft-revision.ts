import * as z from 'zod';
import { numberInUrl } from '../common.js';

/** Increases by one with every change of a site's draft; 0 before the first. */
export const DraftRevision = z.object({
  revision: z
    .int()
    .min(0)
    .describe('Changes with each edit. Send the one that you read, and edits in between return 409.'),
});

/** The change is refused if the draft was changed since this revision. */
export const ExpectedRevision = z.object({
  revision: DraftRevision.shape.revision
    .optional()
    .describe('Changes with each edit. Send the one that you read, and edits in between return 409.'),
});

/** The same revision as a query member, for requests without a body. */
export const ExpectedRevisionQuery = z.strictObject({
  revision: numberInUrl(0, Number.MAX_SAFE_INTEGER, 'must be a whole number of at least 0')
    .optional()
    .describe('Changes with each edit. Send the one that you read, and edits in between return 409.'),
});
