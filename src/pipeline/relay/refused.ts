import { AppendRefused, AppendTooLarge } from '../event-log/errors.js';

/**
 * The log refuses the next event of this site permanently. The relay of the site stops until an
 * operator releases it.
 */
export class RefusedForGood extends Error {
  override readonly name = 'RefusedForGood';
}

/** Returns the failure, or what it means for good. */
export function refusal(error: unknown): unknown {
  const isPermanent = error instanceof AppendRefused || error instanceof AppendTooLarge || error instanceof TypeError;
  return isPermanent ? new RefusedForGood(error.message, { cause: error }) : error;
}
