import { ERROR_CODES, type ErrorCode, type FieldError } from '../../../schemas/api/error-codes.js';

export interface RefusalDetails {
  /** The invalid fields, for `VALIDATION_ERROR`. */
  readonly errors?: readonly FieldError[];
  /** The challenge of a proof of work, for `PROOF_OF_WORK_REQUIRED`. */
  readonly challenge?: string;
  /** Seconds after which a retry may succeed. */
  readonly retryAfterSeconds?: number;
}

/**
 * The domain refuses a client's request, or cannot serve it now. It has a code of the table of
 * error codes and is independent of HTTP: `api/` translates it into a response.
 */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';

  /**
   * @param message the problem and the next step; by default the meaning of the code
   * @param details invalid fields, a challenge, seconds to wait
   */
  constructor(
    readonly code: ErrorCode,
    message: string = ERROR_CODES[code].meaning,
    readonly details: RefusalDetails = {},
  ) {
    super(message);
  }
}
