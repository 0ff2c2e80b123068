import { ERROR_CODES, type ErrorCode, type FieldError } from '../../../schemas/api/error-codes.js';

export interface RefusalDetails {
  /** The wrong fields, for `VALIDATION_ERROR`. */
  readonly errors?: readonly FieldError[];
  /** After how many seconds a retry may succeed. */
  readonly retryAfterSeconds?: number;
}

/**
 * The domain refuses a caller's request, or cannot serve it now. It carries a code of the one table
 * of error codes and knows nothing of HTTP: `api/` translates it into a response.
 */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';

  /**
   * @param message what is wrong and what to do next; the code's meaning if not given
   * @param details wrong fields, seconds to wait
   */
  constructor(
    readonly code: ErrorCode,
    message: string = ERROR_CODES[code].meaning,
    readonly details: RefusalDetails = {},
  ) {
    super(message);
  }
}
