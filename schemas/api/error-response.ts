import * as z from 'zod';

/** The body of every error; `code`, `error_code` and `error.code` are the same. */
export const ErrorResponse = z
  .object({
    message: z.string().describe('The error in words: where it is, and what to do next.'),
    code: z.string().describe('Stable code of the error.'),
    error_code: z.string().describe('The same code.'),
    error: z
      .object({
        code: z.string().describe('Stable code of the error.'),
        message: z.string().describe('The error in words, and what to do next.'),
      })
      .describe('The same code and message.'),
    errors: z
      .array(
        z.object({
          field: z.string().describe('Path of the member, for example `cookies.0.name`.'),
          message: z.string().describe('The error in words, and what to do next.'),
        }),
      )
      .optional()
      .describe('The invalid fields, for VALIDATION_ERROR and similar codes.'),
    challenge: z.string().optional().describe('With PROOF_OF_WORK_REQUIRED: `bits.expiry.authenticator`.'),
    passkeys: z
      .array(z.string())
      .optional()
      .describe('With SECOND_FACTOR_REQUIRED: identifiers of the passkeys of the user, for `allowCredentials`.'),
    valid: z.literal(false).optional().describe('Always false on the verification routes.'),
  })
  .meta({ id: 'ErrorResponse' });
export type ErrorResponse = z.infer<typeof ErrorResponse>;
