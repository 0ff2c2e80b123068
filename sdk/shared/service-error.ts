import type { ServiceCode } from './tool-api.js';

/** An invalid field of a request. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/**
 * The warning that a consent was not recorded, because its key was used with another one, or undefined if there is
 * none.
 */
export function conflictOf(warnings: readonly FieldError[] = []): FieldError | undefined {
  return warnings.find(({ field }) => field === 'idempotency_key');
}

/** Codes of the SDKs for errors that are not responses of the service. */
type OwnCode =
  | 'IDEMPOTENCY_CONFLICT'
  | 'INSECURE_CONTEXT'
  | 'NO_ANSWER'
  | 'SUPERSEDED'
  | 'UNAVAILABLE'
  | 'UNEXPECTED_ANSWER';

/** A stable code. A newer service may have others than those that are listed here. */
export type ErrorCode = ServiceCode | OwnCode | (string & Record<never, never>);

/** A refusal by the service, or the lack of an answer. */
export class ServiceError extends Error {
  override readonly name: string = 'ServiceError';

  /**
   * @param code stable code of the service, for example `CONFIG_OUTDATED`; `NO_ANSWER` if no response arrived,
   * `UNEXPECTED_ANSWER` if the response was not one of the service
   * @param status HTTP status, or 0 if there was no response
   * @param errors the invalid fields of a `VALIDATION_ERROR`
   * @param options `cause`: why no answer arrived, if that is known
   */
  constructor(
    message: string,
    readonly code: ErrorCode,
    readonly status: number,
    readonly errors: readonly FieldError[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
