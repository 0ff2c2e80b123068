import type { Logger } from 'pino';
import type { ServiceLogger } from '../platform/background/part.js';
import type { CaughtWhere, Metrics } from './metrics/metrics.js';

/** The exit code of every failed command (`EXIT.failed`). */
const EXIT_FAILED = 1;

/**
 * Ends this process on an uncaught exception or unhandled rejection, because its state is then unknown. Whatever
 * started the process restarts it. The log names the place in the program but not the message, which may quote a
 * caller's input.
 */
export function endOnUncaught(logger: Pick<Logger, 'fatal'>): void {
  // Node reports an unhandled rejection in the same way.
  process.on('uncaughtException', (error: unknown, origin) => {
    try {
      logger.fatal({ origin, ...placeOf(error) }, 'uncaught error: the process ends');
    } finally {
      process.exit(EXIT_FAILED);
    }
  });
}

/** Returns where in the program an error was thrown, without its message. */
function placeOf(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack = '' } = error;
  const frames = stack.slice(Math.max(0, stack.indexOf(message)) + message.length).split('\n');
  return {
    type: name,
    ...('code' in error && typeof error.code === 'string' && { code: error.code }),
    stack: frames.filter((line) => /^\s+at /.test(line)).join('\n'),
  };
}

export interface EndInTimeOptions {
  readonly ms: number;
  readonly logger: Pick<Logger, 'error'>;
  /** Ends the process immediately. */
  readonly exit: (exitCode: number) => void;
}

/** Less than the 30 s that containers get to finish the steps in progress (docs/operations.md, “Deploy”). */
export const LONGEST_STOP_MS = 25_000;

/**
 * Ends the process after `ms` milliseconds, even if its shutdown still waits for a database, a log or an authority that
 * does not answer. Nothing is lost: every answered request is durable, and every step survives a kill. Otherwise the
 * orchestrator would kill the process, and no log line would say why.
 */
export function endInTime({ ms, logger, exit }: EndInTimeOptions): void {
  const end = (): void => {
    logger.error(
      { after_ms: ms },
      'the process did not stop in time, and is ended now; nothing that was acknowledged is lost',
    );
    exit(1);
  };
  setTimeout(end, ms).unref();
}

/**
 * Returns a function that counts and logs an exception that a guarded listener caught. The log names its place but not
 * its message, which may quote untrusted input.
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
