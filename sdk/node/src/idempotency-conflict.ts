import { ServiceError } from '../../shared/service-error.js';
import type { Acceptance } from '../../shared/types.js';

/**
 * The idempotency key was already used with another consent. This consent was not recorded, because a key belongs to
 * one action of a person.
 */
export class IdempotencyConflict extends ServiceError {
  override readonly name = 'IdempotencyConflict';

  /** @param acceptance acceptance of the first consent */
  constructor(
    message: string,
    readonly acceptance: Acceptance,
  ) {
    super(message, 'IDEMPOTENCY_CONFLICT', 202);
  }
}
