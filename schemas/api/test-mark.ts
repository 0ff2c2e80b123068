import * as z from 'zod';

/** The member of a response that marks it as being about test records. */
export const TEST_MEMBER = {
  test: z
    .literal(true)
    .optional()
    .describe('Only with a test key: the response is about test records, which are no evidence.'),
};
