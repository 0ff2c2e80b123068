import * as z from 'zod';

/** Maximum number of characters of one string. A TC string with both lists of a thousand vendors has about 700. */
const MOST_CHARACTERS = 8_000;

/**
 * The IAB strings that the page gave to advertisers with this choice, as the browser claims. The verifier checks that
 * they say what the person chose (`iab-agreement.ts`).
 */
export const IabSignals = z
  .strictObject({
    tc_string: z
      .string()
      .max(MOST_CHARACTERS)
      .regex(/^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+){0,3}$/, 'must be a TC string')
      .describe('TC string of IAB Europe’s Transparency and Consent Framework.'),
    gpp_string: z
      .string()
      .max(MOST_CHARACTERS)
      .regex(/^[A-Za-z0-9_-]+(?:~[A-Za-z0-9_.-]+){0,40}$/, 'must be a GPP string')
      .describe('String of IAB Tech Lab’s Global Privacy Platform.'),
  })
  .partial()
  .refine((stated) => Object.keys(stated).length > 0, 'must state something')
  .meta({ id: 'IabSignals', minProperties: 1 });
export type IabSignals = z.infer<typeof IabSignals>;
