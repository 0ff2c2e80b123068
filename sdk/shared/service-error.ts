/** An invalid field of a request. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** The warning that a consent was not recorded, because its key was used with another one; undefined without it. */
export function conflictOf(warnings: readonly FieldError[] = []): FieldError | undefined {
  return warnings.find(({ field }) => field === 'idempotency_key');
}

/** A refusal by the service, or the lack of an answer. */
export class ServiceError extends Error {
  override readonly name: string = 'ServiceError';

  /**
   * @param code stable code of the service, for example `CONFIG_OUTDATED`; `NO_ANSWER` if none
   *   arrived, `UNEXPECTED_ANSWER` if it was not one of the service
   * @param status HTTP status; 0 without an answer
   * @param errors the invalid fields of a `VALIDATION_ERROR`
   * @param cause why no answer arrived, if that is known
   */
  constructor(
    message: string,
    readonly code: string,
    readonly status: number,
    readonly errors: readonly FieldError[] = [],
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}
