import type { ErrorBody } from './types.js';

/** The service refused a request, or could not be reached. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';

  /**
   * @param code stable code of the service; `NO_ANSWER` if there was no answer
   * @param fields the fields that the service refuses, by path (`controller.contact`)
   * @param challenge what a proof of work has to answer
   * @param passkeys identifiers of the passkeys that can prove the second factor
   */
  constructor(
    readonly code: string,
    message: string,
    readonly status: number,
    readonly fields: readonly { readonly field: string; readonly message: string }[] = [],
    readonly challenge?: string,
    readonly passkeys: readonly string[] = [],
  ) {
    super(message);
  }
}

/** Makes a failure of an error response. @param body the parsed JSON body of the service or of a proxy before it */
export function failureOf(status: number, body: Partial<ErrorBody> | undefined): ApiFailure {
  const code = typeof body?.code === 'string' ? body.code : 'NO_ANSWER';
  return new ApiFailure(code, body?.message ?? '', status, body?.errors ?? [], body?.challenge, body?.passkeys);
}
