import type { ServiceError } from '../shared/service-error.js';
import type { Configuration } from './answers.js';
import type { Choice } from './choice.js';

/**
 * - `loading`: the configuration, or the choice of the account that is signed in, is being read.
 * - `needed`: the visitor has not chosen, or must choose again. An earlier choice may count meanwhile, for what was
 *   asked then.
 * - `signalled`: the visitor has not chosen, and the browser sends Global Privacy Control, which
 *   refuses. The site does not ask.
 * - `unasked`: the visitor has not chosen, and by the rule of the place no category waits for a choice.
 * - `chosen`: a choice is in force.
 * - `unavailable`: no choice can be recorded; `error` states why. Nothing optional is permitted.
 */
export type ConsentStatus = 'loading' | 'needed' | 'signalled' | 'unasked' | 'chosen' | 'unavailable';

export interface ConsentState {
  readonly status: ConsentStatus;
  /** The configuration of the site, or null until it is loaded. */
  readonly configuration: Configuration | null;
  /** The choice in force, or null if there is none. */
  readonly choice: Choice | null;
  /** The last failure, or null if there is none. */
  readonly error: ServiceError | null;
}
