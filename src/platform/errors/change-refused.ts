/** Reasons for which a change of tenancy or accounts is refused. */
export type ChangeRefusalCode = 'not_found' | 'already_exists' | 'wrong_state' | 'invalid';

/**
 * A refused change of tenancy or accounts. `message` tells the client or the operator the problem
 * and the next step.
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
