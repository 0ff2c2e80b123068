/** Why a change of tenancy or accounts is refused. */
export type ChangeRefusalCode = 'not_found' | 'already_exists' | 'wrong_state' | 'invalid';

/**
 * A change of tenancy or accounts that cannot be made. `message` tells the client or the operator
 * what is wrong and what to do next.
 */
export class ChangeRefused extends Error {
  override readonly name = 'ChangeRefused';
  constructor(
    readonly code: ChangeRefusalCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
