import type { ServiceLogger } from '../platform/background/part.js';
import { placeOf } from './end-on-uncaught.js';
import type { CaughtWhere, Metrics } from './metrics/metrics.js';

/**
 * Returns what counts and logs an exception that a guarded listener caught. The log names its place, without its
 * message, which may quote a stranger.
 */
export function reportCaught(
  { logger, metrics }: { readonly logger: ServiceLogger; readonly metrics: Pick<Metrics, 'countCaught'> },
  where: CaughtWhere,
): (error: unknown) => void {
  return (error) => {
    metrics.countCaught(where);
    logger.error(
      { where, ...placeOf(error) },
      'the answer of a foreign server caused an internal error, which ended a request',
    );
  };
}
