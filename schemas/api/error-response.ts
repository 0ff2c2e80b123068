import { z } from 'zod';

/** The body of every error; `code`, `error_code` and `error.code` are the same. */
export const ErrorResponse = z.object({
  message: z.string(),
  code: z.string(),
  error_code: z.string(),
  error: z.object({ code: z.string(), message: z.string() }),
  /** With VALIDATION_ERROR and its like: which fields are wrong. */
  errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  /** Of the verify routes: always false. */
  valid: z.literal(false).optional(),
});
export type ErrorResponse = z.infer<typeof ErrorResponse>;
