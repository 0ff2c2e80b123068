import { z } from 'zod';

/** The body of every error; `code`, `error_code` and `error.code` are the same. */
export const ErrorResponse = z
  .object({
    message: z.string(),
    code: z.string(),
    error_code: z.string(),
    error: z.object({ code: z.string(), message: z.string() }),
    errors: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .optional()
      .describe('With VALIDATION_ERROR and its like: which fields are wrong.'),
    valid: z.literal(false).optional().describe('Of the verify routes: always false.'),
  })
  .meta({ id: 'ErrorResponse' });
export type ErrorResponse = z.infer<typeof ErrorResponse>;
